import { z } from 'zod';

/** Errors in one list after which the rest is not checked; each error costs more than its item. */
const FAULTS = 5;

/** A list from outside; validation stops after a few errors. */
export function listOf<S extends z.ZodType>(item: S, max: number): ListSchema<S> {
  return endOfList(item, { max, atOnce: max, toStart: () => 0 });
}

/**
 * As listOf for the end of a list: at most `atOnce` items, from an index that `toStart` chooses.
 */
export function endOfList<S extends z.ZodType>(
  item: S,
  { max, atOnce, toStart }: EndOfList,
): ListSchema<S> {
  // The OpenAPI document describes the items, which the schema below does not reveal.
  const { items: described } = z.toJSONSchema(z.array(item), { io: 'input' });
  return z
    .array(z.unknown())
    .max(max)
    .meta({ items: described })
    .transform((items, context): z.output<S>[] => {
      const found: z.output<S>[] = [];
      const start = toStart(items);
      if (items.length - start > atOnce) {
        context.addIssue(`at most ${String(atOnce)} items at once`);
        return z.NEVER;
      }
      for (let at = start; at < items.length; at += 1) {
        const parsed = item.safeParse(items[at]);
        if (parsed.success) found.push(parsed.data);
        else report(parsed.error, at, context);
        if (context.issues.length >= FAULTS) break;
      }
      return found;
    });
}

interface EndOfList {
  /** Items of the whole list. */
  max: number;
  atOnce: number;
  toStart: (items: readonly unknown[]) => number;
}

type ListSchema<S extends z.ZodType> = z.ZodPipe<
  z.ZodArray<z.ZodUnknown>,
  z.ZodTransform<z.output<S>[], unknown[]>
>;

function report(error: z.ZodError, at: number, context: z.core.$RefinementCtx): void {
  for (const issue of error.issues.slice(0, FAULTS)) {
    context.addIssue({ ...issue, code: 'custom', path: [at, ...issue.path] });
  }
}
