import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';

export interface Pace {
  /** Fires when the model has taken too long. */
  signal: AbortSignal;
  heard: (part: LanguageModelV4StreamPart) => void;
  close: () => void;
}

/** What comes before a model says anything. */
const BEFORE: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw']);

/** Watches how long a model takes to its first piece, and in all. */
export function watchPace({
  firstPartMs,
  callMs,
  onPart,
}: {
  firstPartMs?: number | undefined;
  callMs?: number | undefined;
  onPart?: ((part: LanguageModelV4StreamPart) => void) | undefined;
}): Pace {
  const controller = new AbortController();
  const abort = (): void => {
    controller.abort();
  };
  const within = (ms: number | undefined): NodeJS.Timeout | undefined =>
    ms === undefined ? undefined : setTimeout(abort, ms);
  const first = within(firstPartMs);
  const all = within(callMs);
  return {
    signal: controller.signal,
    heard: (part) => {
      if (!BEFORE.has(part.type)) clearTimeout(first);
      onPart?.(part);
    },
    close: () => {
      clearTimeout(first);
      clearTimeout(all);
    },
  };
}
