// Exact decimals in texts.
const PLACES = 18;

export function units(text) {
  const [, sign, whole, part = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  return BigInt(sign + whole + part.padEnd(PLACES, "0"));
}
