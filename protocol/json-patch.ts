import { z } from 'zod';

/** RFC 6901: empty for the whole state, or `/`-separated with `~` escaped as `~0`, `/` as `~1`. */
const JsonPointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)*$/, 'must be a JSON pointer');

/** RFC 6902. */
export const JSONPatchOperation = z
  .object({
    op: z.enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
    path: JsonPointer,
    /** Required by `move` and `copy`. */
    from: JsonPointer.optional(),
    /** Required by `add`, `replace` and `test`. */
    value: z.unknown().optional(),
  })
  .refine(({ op, from }) => (op !== 'move' && op !== 'copy') || from !== undefined, {
    path: ['from'],
    message: 'is required by move and copy',
  })
  .refine(({ op, value }) => ['remove', 'move', 'copy'].includes(op) || value !== undefined, {
    path: ['value'],
    message: 'is required by add, replace and test',
  });
export type JSONPatchOperation = z.infer<typeof JSONPatchOperation>;
