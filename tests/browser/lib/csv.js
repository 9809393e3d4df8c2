// Comma-separated values as the command line writes them: { header, rows } of texts.
export function parseCsv(text) {
  const rows = [[""]];
  let isQuoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const row = rows.at(-1);
    const character = text[i];
    if (isQuoted && character === '"' && text[i + 1] === '"') row[row.length - 1] += text[(i += 1)];
    else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && character === ",") row.push("");
    else if (!isQuoted && character === "\n") rows.push([""]);
    else row[row.length - 1] += character;
  }
  if (rows.at(-1).length === 1 && rows.at(-1)[0] === "") rows.pop();
  const [header, ...others] = rows;
  return { header, rows: others };
}
