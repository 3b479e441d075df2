const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

/** How files of a type begin; RIFF files name their type after a length. */
const SIGNATURES: Record<string, readonly { at: number; bytes: Buffer }[]> = {
  'image/png': [{ at: 0, bytes: latin('\x89PNG\r\n\x1a\n') }],
  'image/jpeg': [{ at: 0, bytes: latin('\xff\xd8\xff') }],
  'image/gif': [{ at: 0, bytes: latin('GIF8') }],
  'image/webp': [
    { at: 0, bytes: latin('RIFF') },
    { at: 8, bytes: latin('WEBP') },
  ],
  'audio/wav': [
    { at: 0, bytes: latin('RIFF') },
    { at: 8, bytes: latin('WAVE') },
  ],
};

/** False if the bytes are certainly not of that type; types without a signature are believed. */
export function mayBeOfType(content: Uint8Array, mediaType: string): boolean {
  const signature = SIGNATURES[mediaType] ?? [];
  return signature.every(({ at, bytes }) => bytes.equals(content.subarray(at, at + bytes.length)));
}
