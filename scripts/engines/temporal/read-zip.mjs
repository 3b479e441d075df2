import { inflateRawSync } from 'node:zlib';

const END = 'PK\x05\x06';
const ENTRY = 'PK\x01\x02';
const DEFLATED = 8;
const LARGEST = 1 << 29;

/** The content of the first entry whose name is wanted. Knows what wheels are: no zip64, no encryption. */
export function readZipEntry(zip, isWanted) {
  const end = zip.lastIndexOf(END, undefined, 'latin1');
  if (end === -1) throw new Error('it is not a zip file');
  let at = zip.readUInt32LE(end + 16);
  while (zip.toString('latin1', at, at + 4) === ENTRY) {
    const nameEnd = at + 46 + zip.readUInt16LE(at + 28);
    if (isWanted(zip.toString('utf8', at + 46, nameEnd))) return contentOf(zip, at);
    at = nameEnd + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error('the zip file lacks the program');
}

/** The lengths before the content are those of its own header, which may differ from the entry's. */
function contentOf(zip, entry) {
  const header = zip.readUInt32LE(entry + 42);
  const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
  const content = zip.subarray(start, start + zip.readUInt32LE(entry + 20));
  const method = zip.readUInt16LE(entry + 10);
  return method === DEFLATED ? inflateRawSync(content, { maxOutputLength: LARGEST }) : content;
}
