export const SLOTS = 16_384;

/** Returns the slot of a key by the hash tag rule of the specification. */
export function slotOf(key: string): number {
  return crc16(/^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key) % SLOTS;
}

export function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    }
    crc &= 0xffff;
  }
  return crc;
}
