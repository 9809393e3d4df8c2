"""Plants one violation of each style rule in a small tree, and expects tidy.py to find it and nothing else."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import tidy
import tidy_comments
import tidy_cpp
import tidy_tree

# A tree that keeps every rule; each test changes one thing.
CLEAN = {
    "README.md": "# A tree\n",
    "server/main.cc": '#include "app.h"\n\nint main() { return 0; }\n',
    "server/app.h": '#include "rpc/query_rpc.h"\n#include "host/entropy.h"\n',
    "server/app.cc": '#include "app.h"\n#include "ledger/sqlite/sqlite_ledger.h"\n#include <grpcpp/server.h>\n',
    "server/rpc/query_rpc.h": '#include "service/answer.h"\n#include <grpcpp/server_context.h>\n',
    "server/service/answer.h": '#include "codec/event_codec.h"\n#include "dp/kernel/kernel.h"\n#include "ledger/ledger.h"\n',
    "server/codec/event_codec.h": '#include "dp/accounting/event.h"\n',
    "server/records/store.h": '#include "dp/data/sealed_table_handle.h"\n#include "dp/domain/domain.h"\n',
    "server/records/store.cc": '#include "records/store.h"\n#include "dp/data/sealed_table.h"\n',
    "server/ledger/ledger.h": '#include "base/errors.h"\n',
    "server/ledger/sqlite/sqlite_ledger.h": '#include "ledger/ledger.h"\n#include <sqlite3.h>\n',
    "server/dp/kernel/kernel.h": '#include "dp/data/sealed_table_handle.h"\n#include "dp/kernel/private_queries.h"\n',
    "server/dp/kernel/kernel.cc": '#include "dp/kernel/kernel.h"\n#include "dp/data/sealed_table.h"\n',
    "server/dp/kernel/private_queries.h": '#include "dp/sensitivity/sensitivity.h"\n#include "dp/noise/noise_spec.h"\n',
    "server/dp/sensitivity/sensitivity.h": '#include "dp/queries/linear_queries.h"\n#include "dp/noise/noise_spec.h"\n',
    "server/dp/synthesis/mwem.h": '#include "dp/kernel/private_queries.h"\n#include "dp/noise/bit_source.h"\n',
    "server/dp/noise/drbg.h": "#include <openssl/evp.h>\nint Fill() { return RAND_bytes(nullptr, 0); }\n",
    "server/dp/noise/drbg_test.cc": '#include "dp/noise/drbg.h"\nstd::mt19937_64 twister;\n',
    "server/dp/accounting/rule.h": "// No double decides.\nint64_t Cost();\n",
    "client/client.h": '#include "curator/v1/query.pb.h"\n#include "client/request_id.h"\n',
    "client/request_id.h": "inline void Draw() { getrandom(nullptr, 0, 0); }\n",
    "deploy/demo.cc": "#include <random>\nstd::mt19937_64 bits;\nint main() {}\n",
}


def write_tree(root, files):
    for name, text in files.items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class TidyTest(unittest.TestCase):
    def findings(self, changes):
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, {**CLEAN, **changes})
            return tidy.check_files(Path(root))

    def assert_caught(self, rule, path, text):
        found = {(finding.rule, finding.path) for finding in self.findings({path: text})}
        self.assertEqual(found, {(rule, path)})

    def assert_clean(self, path, text):
        self.assertEqual(self.findings({path: text}), [])


class Directions(TidyTest):
    def test_the_clean_tree_is_clean(self):
        self.assertEqual(self.findings({}), [])

    def test_every_forbidden_direction_is_caught(self):
        for path, include in [
            ("server/base/errors.h", "ledger/ledger.h"),
            ("server/dp/domain/domain.h", "dp/accounting/units.h"),
            ("server/dp/accounting/event.h", "dp/noise/drbg.h"),
            ("server/dp/noise/laplace.h", "dp/workload/plan.h"),
            ("server/dp/data/columns.h", "dp/kernel/kernel.h"),
            ("server/dp/workload/plan.h", "dp/kernel/kernel.h"),
            ("server/dp/workload/plan.h", "dp/data/public_table.h"),
            ("server/dp/queries/boxes.h", "dp/sensitivity/sensitivity.h"),
            ("server/dp/queries/boxes.h", "dp/noise/noise_spec.h"),
            ("server/dp/sensitivity/spend.h", "dp/workload/plan.h"),
            ("server/dp/sensitivity/spend.h", "dp/kernel/meter.h"),
            ("server/dp/sensitivity/spend.h", "dp/noise/drbg.h"),
            ("server/dp/kernel/meter.h", "dp/workload/plan.h"),
            ("server/dp/kernel/meter.h", "dp/synthesis/mwem.h"),
            ("server/dp/kernel/meter.h", "codec/event_codec.h"),
            ("server/dp/synthesis/rap.h", "dp/noise/discrete_laplace.h"),
            ("server/dp/synthesis/rap.h", "dp/kernel/kernel.h"),
            ("server/dp/synthesis/rap.h", "dp/kernel/meter.h"),
            ("server/dp/synthesis/rap.h", "dp/kernel/testing/transcript.h"),
            ("server/service/answer.h", "dp/kernel/testing/likelihood.h"),
            ("server/codec/plan_codec.h", "ledger/ledger.h"),
            ("server/records/ingest.h", "ledger/ledger.h"),
            ("server/records/ingest.h", "dp/kernel/kernel.h"),
            ("server/ledger/open_ledger.h", "dp/accounting/units.h"),
            ("server/ledger/sqlite/schema.h", "codec/event_codec.h"),
            ("server/host/clock.h", "dp/noise/drbg.h"),
            ("server/service/access.h", "rpc/convert.h"),
            ("server/http/gateway.h", "service/answer.h"),
            ("client/cli/budget.h", "base/errors.h"),
            ("client/cli/commands/budget.h", "dp/accounting/units.h"),
            ("client/calc.h", "dp/accounting/units.h"),
            ("client/answer.h", "dp/domain/attribute.h"),
            ("client/answer.h", "rpc/convert_attribute.h"),
            ("client/cli/output/answer_rows.h", "rpc/convert_schema.h"),
            ("client/cli/commands/calc.h", "base/errors.h"),
            ("client/cli/commands/calc.h", "dp/noise/drbg.h"),
            ("client/cli/syntax/calc_schedule.h", "ledger/ledger.h"),
            ("server/service/access.h", "app.h"),
            ("server/rpc/convert.h", "tests/testing/bits.h"),
        ]:
            with self.subTest(path=path, include=include):
                self.assert_caught("directions", path, f'#include "{include}"\n')

    def test_the_calculators_of_the_command_line_are_those_of_accounting(self):
        for path in ["client/cli/commands/calc.h", "client/cli/syntax/calc_schedule.h"]:
            with self.subTest(path=path):
                self.assert_clean(path, '#include "dp/accounting/calculators/schedule.h"\n')

    def test_the_bins_of_the_command_line_are_those_of_the_domain(self):
        for include in ["dp/domain/attribute.h", "rpc/convert_attribute.h"]:
            self.assert_clean("client/cli/output/answer_rows.h", f'#include "{include}"\n')

    def test_the_client_may_return_early_as_the_server_does(self):
        self.assert_clean("client/cli/budget.h", '#include "base/status_macros.h"\n')
        self.assert_clean("client/request_id.cc", '#include "base/text.h"\n')

    def test_a_table_entry_is_not_a_prefix_of_names(self):
        self.assert_caught("directions", "server/ledger/x.h", '#include "records/store.h"\n')

    def test_an_include_in_a_comment_is_none(self):
        self.assert_clean("server/base/errors.h", '// #include "ledger/ledger.h"\n')

    def test_tests_and_what_they_share_may_use_fixtures(self):
        for path in ["ledger_test.cc", "conformance/suite.h", "testing/clock.h", "testing_clock.h"]:
            with self.subTest(path=path):
                self.assert_clean(f"server/ledger/{path}", '#include "tests/testing/cluster.h"\n')

    def test_the_product_uses_no_fixtures(self):
        for include in ["tests/testing/cluster.h", "ledger/conformance/suite.h", "ledger/testing/clock.h"]:
            with self.subTest(include=include):
                self.assert_caught("directions", "server/ledger/open_ledger.h", f'#include "{include}"\n')


class Table(TidyTest):
    def test_only_the_kernel_and_the_data_modules_see_the_table(self):
        for path in ["server/dp/synthesis/rap.h", "server/service/answer.h", "server/codec/table_codec.h", "server/app.h"]:
            with self.subTest(path=path):
                self.assert_caught("table", path, '#include "dp/data/sealed_table.h"\n')

    def test_a_header_that_brings_the_table_along_is_closed_too(self):
        closed = {
            "server/dp/kernel/scores.h": '#include "dp/data/sealed_table.h"\n',
            "server/dp/kernel/likelihood.h": '#include "dp/kernel/scores.h"\n',
        }
        for header in ["dp/kernel/scores.h", "dp/kernel/likelihood.h"]:
            for path in ["server/service/answer.h", "server/dp/synthesis/rap.cc", "server/app.cc"]:
                with self.subTest(path=path, header=header):
                    findings = self.findings({**closed, path: f'#include "{header}"\n'})
                    self.assertIn(("table", path), {(finding.rule, finding.path) for finding in findings})

    def test_a_source_that_reads_the_table_closes_no_header(self):
        self.assert_clean("server/service/synthesis.h", '#include "dp/kernel/kernel.h"\n')

    def test_synthesizers_see_private_queries_and_what_is_public_of_them(self):
        for header in ["private_queries.h", "selection_score.h", "utility/utility.h"]:
            with self.subTest(header=header):
                self.assert_clean("server/dp/synthesis/rap.h", f'#include "dp/kernel/{header}"\n')

    def test_tests_of_synthesizers_make_kernels(self):
        for header in ["kernel.h", "testing/transcript.h"]:
            with self.subTest(header=header):
                self.assert_clean("server/dp/synthesis/rap_test.cc", f'#include "dp/kernel/{header}"\n')

    def test_the_handle_is_open_to_all_who_may_ask(self):
        self.assert_clean("server/dp/synthesis/rap.h", '#include "dp/data/sealed_table_handle.h"\n')

    def test_tests_are_exempt(self):
        self.assert_clean("server/dp/synthesis/rap_test.cc", '#include "dp/data/sealed_table.h"\n')

    def test_the_owners_view_is_opened_in_one_place_and_used_in_one(self):
        for path in ["server/service/synthesis.h", "server/dp/kernel/kernel.h", "server/rpc/owner_rpc.h", "server/app.h"]:
            with self.subTest(path=path):
                self.assert_caught("table", path, '#include "dp/kernel/owner/owner_view.h"\n')
        self.assert_caught("table", "server/service/synthesis.h", '#include "service/owner/owner_actions.h"\n')
        for path in ["server/service/owner/owner_reports.h", "server/service/owner/owner_actions.h"]:
            self.assert_clean(path, '#include "dp/kernel/owner/owner_view.h"\n')


class Libraries(TidyTest):
    def test_dp_is_pure(self):
        for header in ["chrono", "thread", "iostream", "absl/time/clock.h", "spdlog/spdlog.h"]:
            with self.subTest(header=header):
                self.assert_caught("libraries", "server/dp/kernel/meter.h", f"#include <{header}>\n")

    def test_protobuf_and_grpc_end_at_the_edge(self):
        for include in ['"curator/v1/query.pb.h"', "<grpcpp/server.h>", "<google/protobuf/message.h>"]:
            with self.subTest(include=include):
                self.assert_caught("libraries", "server/service/answer.h", f"#include {include}\n")

    def test_drivers_stay_in_their_backends(self):
        self.assert_caught("libraries", "server/ledger/open_ledger.h", "#include <sqlite3.h>\n")
        self.assert_caught("libraries", "server/ledger/sqlite/store.h", "#include <pqxx/pqxx>\n")


class Randomness(TidyTest):
    def test_random_bits_come_from_the_noise_module_only(self):
        for code in [
            "std::mt19937 bits;",
            "std::random_device device;",
            "int x = rand();",
            "int y = RAND_bytes(p, 8);",
            "auto z = getrandom(p, 8, 0);",
            'auto f = open("/dev/urandom");',
            "std::normal_distribution<> noise;",
        ]:
            with self.subTest(code=code):
                self.assert_caught("randomness", "server/dp/synthesis/rap.h", code + "\n")

    def test_the_client_draws_request_ids_and_nothing_else(self):
        self.assert_caught("randomness", "client/client.h", "std::random_device device;\n")

    def test_words_that_contain_the_names_are_not_calls(self):
        self.assert_clean("server/ledger/grants.h", "int Operand(int); int brand(int);  // rand() is forbidden\n")


class Principals(TidyTest):
    CODE = 'const Principal who = Principal::OfStoredRow("ana");\n'

    def test_only_work_on_stored_rows_makes_a_principal_of_a_name(self):
        for path in ["server/rpc/owner_rpc.h", "server/service/access.h", "server/app.h", "client/client.h"]:
            with self.subTest(path=path):
                self.assert_caught("principals", path, self.CODE)
        for path in ["server/ledger/sql/repair.h", "server/service/release_once.h", "server/service/access_test.cc"]:
            with self.subTest(path=path):
                self.assert_clean(path, self.CODE)


class Admission(TidyTest):
    def test_no_floating_point_where_budgets_are_decided(self):
        for path in [
            "server/dp/accounting/rule.h",
            "server/dp/accounting/units.h",
            "server/dp/sensitivity/sensitivity.h",
            "server/ledger/ledger.h",
            "server/ledger/sqlite/store.h",
            "server/service/release_once.h",
        ]:
            for code in ["double spent = 0;", "float left;", "long double sum;"]:
                with self.subTest(path=path, code=code):
                    self.assert_caught("admission", path, code + "\n")

    def test_forecasts_may_use_floating_point(self):
        self.assert_clean("server/dp/workload/plan.h", "double expected_error;\n")

    def test_a_canary_in_a_test_may_sum_doubles(self):
        self.assert_clean("server/dp/accounting/rule_test.cc", "double sum = 0;\n")


class Sizes(TidyTest):
    def function_of(self, lines, head="int Long(int x) {"):
        return head + "\n" + "  x += 1;\n" * (lines - 2) + "}\n"

    def test_a_long_function_is_caught(self):
        self.assert_clean("server/base/long.h", self.function_of(tidy.MOST_FUNCTION_LINES))
        self.assert_caught("size", "server/base/long.h", self.function_of(tidy.MOST_FUNCTION_LINES + 1))

    def test_a_long_method_of_a_nested_class_is_caught(self):
        method = self.function_of(80, head="  template <class T>\n  int Long(T x) const {")
        text = "namespace a::b {\nclass C : public D {\n public:\n  struct E {\n" + method + "};\n};\n}\n"
        self.assert_caught("size", "server/base/long.h", text)

    def test_a_long_class_and_a_long_table_are_no_functions(self):
        self.assert_clean("server/base/long.h", "class C {\n" + "  int x();\n" * 90 + "};\n")
        self.assert_clean("server/base/long.h", "constexpr int kTable[] = {\n" + "  1,\n" * 90 + "};\n")

    def test_a_long_file_is_caught(self):
        self.assert_caught("size", "server/base/long.h", "int x();\n" * (tidy.MOST_FILE_LINES + 1))


class Words(TidyTest):
    def test_notes_to_self_are_caught_everywhere(self):
        for path in ["server/base/a.h", "docs/X.md", "deploy/start", "migrations/sqlite/0001_a.sql", ".ci/gate.py"]:
            for word in ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]:
                with self.subTest(path=path, word=word):
                    self.assert_caught("words", path, f"// {word}: later\n")

    def test_a_template_for_temporary_names_is_no_note(self):
        self.assert_clean("deploy/start", "mktemp -d /tmp/curator.XXXXXX\n")


class Comments(TidyTest):
    """Each broken comment is of a shape that a formatter made of a comment of ours; its twin is how it was meant."""

    TORN_CELL = """\
//   PURE      the sum of epsilons. At delta = 0 nothing is tighter: each kind of mechanism attains its
//   epsilon in
//             some outcome, and their joint outcome attains the sum.
//   RDP       the sum of the divergences at the account's order: those of a product add up.
"""
    WHOLE_CELL = """\
//   PURE      the sum of epsilons. At delta = 0 nothing is tighter: each kind of mechanism attains its
//             epsilon in some outcome, and their joint outcome attains the sum.
//   RDP       the sum of the divergences at the account's order: those of a product add up.
"""
    JOINED_ROWS = """\
//   PURE      counter "epsilon" (1e-12): sum of epsilons <= epsilon_B. Basic composition (Dwork, McSherry,
//   Nissim, Smith 2006). ADVANCED  counters "epsilon_squared" (1e-12) and "delta" (1e-18): the largest S2
//             whose filter value is <= epsilon_B.
//   RDP       counter "rdp" (1e-12) at ONE order alpha, fixed when the account is made.
"""
    SEPARATE_ROWS = """\
//   PURE      counter "epsilon" (1e-12): sum of epsilons <= epsilon_B. Basic composition (Dwork, McSherry,
//             Nissim, Smith 2006).
//   ADVANCED  counters "epsilon_squared" (1e-12) and "delta" (1e-18): the largest S2 whose filter value is
//             <= epsilon_B.
//   RDP       counter "rdp" (1e-12) at ONE order alpha, fixed when the account is made.
"""
    JOINED_ROWS_WITH_A_REST = """\
//   stated dwork-rothblum-vadhan  equal mechanisms of stated privacy only kairouz-oh-viswanath   the least of
//   their closed forms (2015, Thms 3.4 and 3.5) optimal                the exact optimum for stated privacy;
//   rdp                    the best of all orders, chosen afterwards
//   gaussian-dp            exact, continuous Gaussians only
//   by 1 numerical              certified composition of privacy losses numerical-lower        what no
//   calculator can go below; only where the losses are attained
"""
    TORN_HEADER = """\
//                 L1                                  squared L2                                    one
//                 answer
//   ADD_REMOVE    m max_x |w_x|_1                     m^2 max_x |w_x|_2^2                           m max |w|
"""
    WHOLE_HEADER = """\
//                L1                                 squared L2                               one answer
//   ADD_REMOVE   m max_x |w_x|_1                    m^2 max_x |w_x|_2^2                      m max |w|
//   REPLACE_ONE  m min(2 max_x |w_x|_1, sum_q s_q)  m^2 min(c max_x |w_x|_2^2, sum_q s_q^2)  m max_q s_q
"""
    JOINED_GRAMMAR = """\
//   where      := condition { "and" condition }
//   thresholds := "at least" number { "," number } "of" [ "each" number "of" ] "(" condition { "," condition
//   } ")" condition  := attribute "in" "{" value { "," value } "}"
//               | attribute "in" "[" [ value ] "," [ value ] ( "]" | ")" )
"""
    SEPARATE_GRAMMAR = """\
//   where      := condition { "and" condition }
//   thresholds := "at least" number { "," number } "of" [ "each" number "of" ]
//                 "(" condition { "," condition } ")"
//   condition  := attribute "in" "{" value { "," value } "}"
//               | attribute "in" "[" [ value ] "," [ value ] ( "]" | ")" )
"""
    TORN_LAST_CELL = """\
//   ADVANCED   epsilon            PureBudget
//              epsilon and delta  ZcdpBudget of the largest rho whose tight conversion at delta is at most
//              epsilon
//                                 (Canonne, Kamath, Steinke 2020)
"""
    WHOLE_LAST_CELL = """\
//   ADVANCED   epsilon            PureBudget
//              epsilon and delta  ZcdpBudget of the largest rho whose tight conversion at delta is at most
//                                 epsilon (Canonne, Kamath, Steinke 2020)
"""
    TORN_FORMULA = """\
//   hash = SHA-256 of the canonical document (base/canonical_bytes.h) tagged "curator.ledger.entry", version
//   1, of
//          Text(dataset_id) Integer(seq) Text(kind)
"""
    WHOLE_FORMULA = """\
//   hash = SHA-256 of the canonical document (base/canonical_bytes.h) tagged "curator.ledger.entry",
//          version 1, of
//          Text(dataset_id) Integer(seq) Text(kind)
"""
    TORN_ITEM = """\
//   - H = 1: x = c. The one record lies in a part of T (weight 1) or in none (no change at all).
//   - Draws whose cost is at least linear in the records that change (LinearDraws): under ADD_REMOVE x = c;
//   under REPLACE_ONE, draw by draw, x = max(c, 2 r).
"""
    WHOLE_ITEM = """\
//   - H = 1: x = c. The one record lies in a part of T (weight 1) or in none (no change at all).
//   - Draws whose cost is at least linear in the records that change (LinearDraws): under ADD_REMOVE x = c;
//     under REPLACE_ONE, draw by draw, x = max(c, 2 r).
"""
    TORN_SENTENCE = """\
// INVALID_ARGUMENT (principal) when it is empty, longer than 128 bytes, or with other characters than
// letters, digits and
// ". _ @ -".
"""
    WHOLE_SENTENCE = """\
// INVALID_ARGUMENT (principal) when it is empty, longer than 128 bytes, or with other characters than
// letters, digits and any of "._@-".
"""

    def lines_found(self, text):
        return [line for line, _ in tidy_comments.findings(text)]

    def test_broken_comments_are_findings_of_the_rule_in_headers_and_sources(self):
        for path in ["server/base/a.h", "server/dp/kernel/kernel.cc", "tests/e2e/a_test.cc"]:
            with self.subTest(path=path):
                self.assert_caught("comments", path, self.TORN_CELL)
                self.assert_clean(path, self.WHOLE_CELL)

    def test_the_rest_of_a_cell_where_rows_begin_is_caught(self):
        self.assertEqual(self.lines_found(self.TORN_CELL), [2])
        self.assertEqual(self.lines_found(self.WHOLE_CELL), [])

    def test_rows_that_were_run_together_are_caught(self):
        self.assertEqual(self.lines_found(self.JOINED_ROWS), [2])
        self.assertEqual(self.lines_found(self.SEPARATE_ROWS), [])
        self.assertEqual(self.lines_found(self.JOINED_ROWS_WITH_A_REST), [1, 2, 5, 6])
        self.assertEqual(self.lines_found(self.JOINED_GRAMMAR), [3])
        self.assertEqual(self.lines_found(self.SEPARATE_GRAMMAR), [])

    def test_a_cell_of_the_last_column_that_wrapped_is_caught(self):
        self.assertEqual(self.lines_found(self.TORN_HEADER), [2])
        self.assertEqual(self.lines_found(self.WHOLE_HEADER), [])
        self.assertEqual(self.lines_found(self.TORN_LAST_CELL), [3])
        self.assertEqual(self.lines_found(self.WHOLE_LAST_CELL), [])

    def test_a_displayed_line_that_wrapped_above_what_hangs_below_it_is_caught(self):
        self.assertEqual(self.lines_found(self.TORN_FORMULA), [2])
        self.assertEqual(self.lines_found(self.WHOLE_FORMULA), [])

    def test_the_rest_of_a_list_item_where_items_begin_is_caught(self):
        self.assertEqual(self.lines_found(self.TORN_ITEM), [3])
        self.assertEqual(self.lines_found(self.WHOLE_ITEM), [])

    def test_a_sentence_whose_line_ends_early_is_caught(self):
        self.assertEqual(self.lines_found(self.TORN_SENTENCE), [2])
        self.assertEqual(self.lines_found(self.WHOLE_SENTENCE), [])

    def test_a_comment_within_a_class_is_read_as_any_other(self):
        def indented(text):
            return "".join("  " + line.replace("Basic composition ", "") + "\n" for line in text.splitlines())

        self.assertEqual(self.lines_found("class C {\n" + indented(self.JOINED_ROWS) + "};\n"), [3])
        self.assertEqual(self.lines_found("class C {\n" + indented(self.SEPARATE_ROWS) + "};\n"), [])

    def test_a_wide_comment_is_caught_and_wide_code_is_not(self):
        filler = "x" * (tidy_comments.MOST_COLUMNS - 3)
        self.assert_clean("server/base/a.h", f"// {filler}\n")
        self.assert_caught("comments", "server/base/a.h", f"// {filler}x\n")
        self.assert_caught("comments", "server/base/a.h", f"int a;  // {filler}\n")
        self.assert_clean("server/base/a.h", f'char a[] = "// {filler}";\n')

    def test_well_formed_layouts_pass(self):
        for name, layout in {
            "a row of one cell": """\
//     at_least=1                asks for thresholds instead of cells: for each cell, the records that share
//                               at least so many of its values
//     method=rap|mwem|gaussian|zero
//     epsilon=1,0.1             budgets
""",
            "a first cell that fills its column": """\
//   dpsyn marginals TABLE K METHOD RULE EPSILON [REPETITIONS] [key=value]...
//   dpsyn squares   TABLE METHOD RULE EPSILON [REPETITIONS] [key=value]...
//   dpsyn speed     [ROWS] [ATTRIBUTES] [key=value]...
""",
            "a first cell that fills its column, below a full row": """\
//   basic                  the sum of epsilons, each Gaussian at its share of delta; adaptive where all state
//   zcdp-loose, zcdp-tight the sum of tight rhos by either conversion; a sum is a filter, so adaptive. A
//                          continuous Laplace counts with its own rho, where the ZCDP rule charges more.
""",
            "a first cell that is wider than its column": """\
//   laplace   scale, l1 (default 1): the sensitivities are reals, and so is the scale, which is not 0, and
//             which is the same for all coordinates of an answer, however many of them there may be at once
//   discrete-laplace
//             scale, l1 (1), linf (l1)
""",
            "a short row below a full one, and a source below it": """\
//   ADVANCED  epsilon_squared (1e-12)  the largest S2 with sqrt(2 ln(1/d') S2) + S2/2 <= epsilon_B, and for
//             delta (1e-18)            delta_B - d', where d' is delta_slack, which is delta_B / 2 if not set
//   ZCDP      rho (1e-12)              the largest rho whose tight conversion at delta_B is at most epsilon_B
//   RDP       rdp (1e-12)              epsilon_B less a constant
//                                      (Canonne, Kamath, Steinke 2020)
""",
            "numbers below centred heads": """\
//                                       L1   L2^2   Linf
//   units are groups    ADD_REMOVE       1    1      1
//                       REPLACE_ONE      2    2      1
//   units are records   ADD_REMOVE       2    2      1
""",
            "one formula with a wide gap": """\
//   A: (integral of prod_i f(y_i | mu)^a_i f(mu) dmu)^a_g        (the slides' option A: here with any a_i)
//   B: integral of (prod_i f(y_i | mu) f(mu))^a_g dmu
//   C: integral of (prod_i f(y_i | mu)^a_i f(mu))^a_g dmu
""",
            "lines that stand for themselves": """\
//   0 <= spent, 0 <= held, spent + held <= limit; spent and held are the sums of the postings that count, and
//   one charge per (principal, request id); one release per charge, of a committed charge, with its hash
//   the draw's key is there exactly as long as a draw may happen
""",
            "a formula that is not torn": """\
// Claim: the selection has range epsilon. Proof: ln P(i) - ln P'(i) = c - factor d_i with a c that is the
// same for all i; so the log-ratios of any two candidates, i and j, differ by
// factor |d_i - d_j| <= epsilon, and as both distributions sum to 1, they lie on both sides of 0.
""",
            "a sentence that begins on a new line": """\
// What WriteSnapshot() returned, as the file tells it, without a proof: only ReadSnapshot() proves that it is
// so.
// NOT_FOUND when there is no file.
""",
        }.items():
            with self.subTest(name=name):
                self.assertEqual(self.lines_found(layout), [])

    def test_what_looks_like_a_comment_in_a_string_is_none(self):
        self.assert_clean("server/base/a.h", 'char text[] = R"(\n' + self.TORN_CELL + ')";\n')


class Threads(TidyTest):
    def test_a_detached_thread_is_caught(self):
        self.assert_caught("threads", "server/service/queue.h", "void F() { worker.detach(); }\n")


class Pairs(TidyTest):
    def test_an_orphan_is_caught(self):
        self.assert_caught("pairs", "server/base/orphan.cc", "int x = 0;\n")

    def test_a_family_shares_a_header(self):
        self.assert_clean("server/dp/accounting/rules/pure.cc", '#include "dp/accounting/rules/definition.h"\n')


class WholeTree(unittest.TestCase):
    def findings(self, files):
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, files)
            return [(finding.rule, finding.path, finding.line) for finding in tidy.check_whole(Path(root))]

    USED = {
        "server/base/errors.h": "class Error;\nError Fail(int code);\ninline constexpr int kCodes = 3;\n",
        "server/base/errors.cc": '#include "base/errors.h"\nclass Error {};\nError Fail(int code) { return {}; }\n',
        "server/main.cc": '#include "base/errors.h"\nint main() { Error error = Fail(kCodes); }\n',
    }

    def test_what_another_file_uses_is_used(self):
        self.assertEqual(self.findings(self.USED), [])

    def test_a_declaration_that_nothing_uses_is_caught(self):
        for declaration in ["int Lost();", "class Lost;", "enum class Lost { kA };", "using Lost = int;",
                            "inline constexpr int kLost{1};", "template <class T>\nint Lost(T x);"]:
            with self.subTest(declaration=declaration):
                files = {**self.USED, "server/base/errors.h": self.USED["server/base/errors.h"] + declaration + "\n"}
                lines = files["server/base/errors.h"].count("\n")
                self.assertEqual(self.findings(files), [("unused", "server/base/errors.h", lines)])

    def test_its_own_definition_and_a_test_are_no_use(self):
        self.assertEqual(self.findings({
            **self.USED,
            "server/base/errors.h": self.USED["server/base/errors.h"] + "struct S { int Lost() const; };\n",
            "server/base/errors.cc": self.USED["server/base/errors.cc"] + "int S::Lost() const { return 1; }\n",
            "server/base/errors_test.cc": '#include "base/errors.h"\nint x = S().Lost();\n',
        }), [("unused", "server/base/errors.h", 4)])

    def kept_for_tests(self, comment):
        header = self.USED["server/base/errors.h"] + comment + "template <class T>\nint Lost(T x,\n         T y);\n"
        return {**self.USED, "server/base/errors.h": header, "server/base/errors_test.cc": "int x = Lost(1, 2);\n"}

    def test_a_reference_that_tests_compare_with_may_stay_where_its_comment_says_so(self):
        for comment in ["// For tests: the bound of the paper.\n", "// The bound of the paper.\n// For tests: nothing charges by it.\n"]:
            with self.subTest(comment=comment):
                self.assertEqual(self.findings(self.kept_for_tests(comment)), [])

    def test_a_comment_keeps_only_what_stands_directly_below_it_and_what_tests_use(self):
        for comment in ["", "// The bound of the paper.\n", "// For tests: another one.\n\n", "// For tests: another one.\nint Fail(int code);\n"]:
            with self.subTest(comment=comment):
                files = self.kept_for_tests(comment)
                line = files["server/base/errors.h"].count("\n")
                self.assertEqual(self.findings(files), [("unused", "server/base/errors.h", line)])
        files = self.kept_for_tests("// For tests: the bound of the paper.\n")
        del files["server/base/errors_test.cc"]
        self.assertEqual(self.findings(files), [("unused", "server/base/errors.h", 7)])

    def test_a_unit_that_is_listed_with_a_reason_may_be_unused(self):
        for unit, reason in tidy_tree.KEPT_UNUSED.items():
            with self.subTest(unit=unit):
                self.assertGreater(len(reason), 20)
                self.assertEqual(self.findings({**self.USED, f"{unit}.h": "int Lost();\n"}), [])
                self.assertNotEqual(self.findings({**self.USED, f"{unit}_copy.h": "int Lost();\n"}), [])

    def test_a_use_in_an_initializer_or_in_its_own_header_is_one(self):
        self.assertEqual(self.findings({
            **self.USED,
            "server/base/errors.h": "class Error;\nError Fail(int code);\ninline constexpr int kBits = 3;\n"
                                    "inline constexpr int kCodes = int{1} << kBits;\n",
        }), [])

    def test_what_is_called_without_its_name_needs_no_use(self):
        self.assertEqual(self.findings({
            **self.USED,
            "server/base/errors.h": self.USED["server/base/errors.h"] +
            "struct Error { Code code = Code::kOk; Error(int x); ~Error(); bool operator==(const Error&) const; int F() override; };\n",
        }), [])

    def test_a_header_that_only_its_own_source_and_tests_include_is_caught(self):
        self.assertEqual(self.findings({
            **self.USED,
            "server/base/lost.h": "",
            "server/base/lost.cc": '#include "base/lost.h"\n',
            "server/base/lost_test.cc": '#include "base/lost.h"\n',
        }), [("unused", "server/base/lost.h", 1)])

    def small_unit(self, lines, user="server/base/errors.cc"):
        return {
            **self.USED,
            "server/base/small.h": "\n" * lines,
            user: self.USED.get(user, "") + '#include "base/small.h"\n',
        }

    def test_a_small_unit_with_one_user_beside_it_is_caught(self):
        self.assertEqual(self.findings(self.small_unit(119)), [("units", "server/base/small.h", 1)])

    def test_a_small_unit_stays_when_it_has_size_or_users_or_a_test_or_another_folder(self):
        self.assertEqual(self.findings(self.small_unit(120)), [])
        self.assertEqual(self.findings(self.small_unit(9, user="server/main.cc")), [])
        self.assertEqual(self.findings({**self.small_unit(9), "server/base/small_test.cc": ""}), [])
        self.assertEqual(self.findings({**self.small_unit(9), "server/base/b.cc": '#include "base/small.h"\n'}), [])

    def test_folders_that_include_each_other_are_caught_and_a_registry_above_them_is_not(self):
        files = {
            "server/dp/a/a.h": '#include "dp/b/b.h"\n',
            "server/dp/b/b.h": "",
            "server/dp/b/c.h": "",
            "server/dp/all.cc": '#include "dp/a/a.h"\n#include "dp/b/c.h"\n',
            "server/dp/all.h": "",
            "server/dp/b/b.cc": '#include "dp/all.h"\n',
        }
        self.assertEqual(self.findings(files), [])
        self.assertEqual(self.findings({**files, "server/dp/b/c.h": '#include "dp/a/a.h"\n'}), [
            ("circles", "server/dp/a/a.h", 1), ("circles", "server/dp/b/c.h", 1)])


class ReadingCpp(unittest.TestCase):
    def test_comments_and_literals_are_blanked_and_lines_kept(self):
        text = 'a /* b\nc */ "d // e" R"x(f\n)" g)x" \'"\' 1\'000 // h\ni'
        code = tidy_cpp.code_only(text)
        self.assertEqual(code.count("\n"), text.count("\n"))
        for letter in "bcdefgh":
            self.assertNotIn(letter, code.replace("R", ""))
        self.assertIn("000", code)
        self.assertTrue(code.endswith("i"))

    def test_functions_are_found_with_their_lengths(self):
        text = "namespace n {\nint F(int a,\n      int b) {\n  if (a) { return 1; }\n  return b;\n}\nstruct S {\n  S() : x(1) {}\n};\n}\n"
        self.assertEqual([(f.line, f.lines) for f in tidy_cpp.functions(text)], [(2, 5), (8, 1)])


class Command(unittest.TestCase):
    def run_main(self, changes):
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, {**WholeTree.USED, **changes})
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
                return tidy.main([root]), output.getvalue()

    def test_findings_fail_the_command_and_name_the_line(self):
        status, output = self.run_main({"server/base/a.h": '\n#include "ledger/ledger.h"\n'})
        self.assertEqual(status, 1)
        self.assertIn("server/base/a.h:2: [directions]", output)

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.run_main({}), (0, ""))

    def test_build_folders_are_not_read(self):
        self.assertEqual(self.run_main({"build/dev/a.cc": "int x;\n", ".git/b.cc": "int y;\n"}), (0, ""))


if __name__ == "__main__":
    unittest.main()
