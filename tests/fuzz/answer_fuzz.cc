// What a client reads from a server or a file: the chunks of an answer, each behind its length in two bytes,
// and receipts. The first byte says which.
#include "client/answer.h"
#include "client/receipt.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {
namespace {

enum Kind : char { kAnswer, kReceipt };

void AddChunk(std::string& stream, const v1::AnswerChunk& chunk) {
  const std::string bytes = chunk.SerializeAsString();
  stream += {static_cast<char>(bytes.size() >> 8), static_cast<char>(bytes.size() & 255)};
  stream += bytes;
}

// Takes the next chunk off the stream; false at its end.
bool NextChunk(std::string_view& stream, v1::AnswerChunk& chunk) {
  if (stream.size() < 2) return false;
  const size_t size =
      static_cast<size_t>(static_cast<unsigned char>(stream[0])) << 8 | static_cast<unsigned char>(stream[1]);
  stream.remove_prefix(2);
  const std::string_view bytes = stream.substr(0, size);
  stream.remove_prefix(bytes.size());
  return chunk.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void CheckErrors(const AnswerValues& values, std::string_view input) {
  if (!values.counts.empty() && !values.estimates.empty()) Broken("numbers are counts or estimates", input);
  for (const auto* const errors : {&values.standard_deviations, &values.confidence_half_widths}) {
    if (!errors->empty() && errors->size() != values.size()) Broken("each number has its error", input);
  }
}

void CheckAnswer(const Answer& answer, std::string_view input) {
  if (answer.marginals.size() != static_cast<size_t>(answer.header.marginal_count()) ||
      answer.query_sets.size() != static_cast<size_t>(answer.header.query_set_count()))
    Broken("an answer has what its header announces", input);
  for (const Marginal& marginal : answer.marginals) {
    CheckErrors(marginal, input);
    size_t cells = 1;
    for (const int64_t size : marginal.header.sizes()) cells *= static_cast<size_t>(size);
    if (marginal.cells() != cells) Broken("a marginal has all of its cells", input);
  }
  for (const QuerySetAnswer& set : answer.query_sets) {
    CheckErrors(set, input);
    if (set.size() != static_cast<size_t>(set.header.answer_count()) ||
        set.labels.size() != set.size() * static_cast<size_t>(set.header.columns_size()))
      Broken("a query set has all of its answers and labels", input);
  }
}

bool TryAnswer(std::string_view stream, std::string_view input) {
  client::AnswerAssembler assembler;
  v1::AnswerChunk chunk;
  while (NextChunk(stream, chunk)) {
    const absl::Status status = assembler.Add(std::move(chunk));
    if (!status.ok() && !absl::IsDataLoss(status)) Broken("what is refused is damaged", input);
    if (!status.ok()) return false;
  }
  const absl::StatusOr<Answer> answer = assembler.Finish();
  if (answer.ok()) CheckAnswer(*answer, input);
  return answer.ok();
}

bool TryReceipt(std::string_view line, std::string_view input) {
  const auto receipt = client::ReceiptOfLine(std::string(line));
  if (!receipt.ok()) return false;
  const auto again = client::ReceiptOfLine(client::LineOf(*receipt));
  if (!again.ok() || again->SerializeAsString() != receipt->SerializeAsString())
    Broken("what is read can be written and read again", input);
  if (client::CheckReceipt(*receipt, std::string(32, 'k')).ok()) Broken("nobody else's key signs", input);
  return true;
}

}  // namespace

std::vector<std::string> Seeds() {
  v1::AnswerChunk header, marginal, cells, query_set, answers;
  header.mutable_header()->set_marginal_count(1);
  header.mutable_header()->set_query_set_count(1);
  marginal.mutable_marginal()->add_attributes("sex");
  marginal.mutable_marginal()->add_sizes(3);
  for (const int64_t count : {5, -1, 7}) cells.mutable_cells()->add_counts(count);
  cells.mutable_cells()->add_standard_deviations(1.5);
  query_set.mutable_query_set()->add_columns("age");
  query_set.mutable_query_set()->set_answer_count(2);
  for (const char* label : {"0 to 9", "0 to 19"}) {
    answers.mutable_answers()->add_labels(label);
    answers.mutable_answers()->add_estimates(2.5);
  }
  std::string stream(1, kAnswer);
  for (const auto& chunk : {header, marginal, cells, query_set, answers}) AddChunk(stream, chunk);
  v1::Receipt receipt;
  receipt.set_statement(R"({"document":"curator.receipt.v1","sequence":3})");
  receipt.set_signature(std::string(64, 's'));
  receipt.set_public_key(std::string(32, 'p'));
  return {stream, std::string(1, kReceipt) + client::LineOf(receipt)};
}

bool Try(std::string_view input) {
  if (input.empty()) return false;
  if (input[0] == kAnswer) return TryAnswer(input.substr(1), input);
  return input[0] == kReceipt && TryReceipt(input.substr(1), input);
}

}  // namespace curator::fuzz
