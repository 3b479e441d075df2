/** Metadata keys of user messages that have a meaning for the runtime. */
export const COMMON_METADATA_KEYS = {
  /** True for a message that the model gets but the page does not show. */
  HIDDEN: 'hidden',
} as const;
