/** US dollars for a million tokens. */
export interface Pricing {
  readonly inputPerMTok: number;
  readonly outputPerMTok: number;
  /** Input read from the provider's cache. Default: as other input. */
  readonly cachedPerMTok?: number;
  /** Input written to the provider's cache. Default: as other input. */
  readonly cacheWritePerMTok?: number;
}
