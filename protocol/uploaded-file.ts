import { z } from 'zod';

/** A file that was stored: the part of a user message that names it, and more about it. */
export const UploadedFile = z
  .object({
    type: z.literal('file'),
    /** Serves the file to its owner. */
    url: z.string(),
    mediaType: z.string(),
    filename: z.string().optional(),
    id: z.string(),
    bytes: z.number(),
  })
  .meta({ id: 'UploadedFile' });
export type UploadedFile = z.infer<typeof UploadedFile>;
