// Bytes as base64, as in the gate's JSON, and as hexadecimal digits, as the command line shows them.

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

export function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// "" where the text is not base64.
export function hexOfBase64(text: string): string {
  try {
    return hexOf(bytesOfBase64(text));
  } catch {
    return "";
  }
}

// Undefined where the text is not an even number of hexadecimal digits.
export function bytesOfHex(digits: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^([0-9a-f]{2})+$/i.test(digits)) return undefined;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}
