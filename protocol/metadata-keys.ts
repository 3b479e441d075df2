/** Metadata of user messages that means something to the runtime. */
export const COMMON_METADATA_KEYS = {
  /** True for what the model sees and the page does not show. */
  HIDDEN: 'hidden',
} as const;
