import { findJsonFault } from '../../protocol/json-depth.js';
import { LIMITS } from '../../protocol/limits.js';

/** The preliminary results of one call: the newest replaces those before, until the call is over. */
export interface Preliminary {
  /** Never throws: a value that cannot be shown is left out. */
  show: (result: unknown) => void;
  /** Nothing is shown from now on. */
  close: () => void;
}

/**
 * Shows the first at once, and later ones at most every LIMITS.preliminaryEveryMs, the newest each
 * time. Values that are too large, no JSON, or beyond what one call may show are left out: viewers
 * keep the one before, and the result follows in any case.
 */
export function createPreliminary(push: (result: unknown) => void): Preliminary {
  let bytes = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newest: { json: string } | undefined;
  let isOver = false;

  function write(): void {
    timer = undefined;
    if (newest === undefined || isOver) return;
    const { json } = newest;
    newest = undefined;
    bytes += Buffer.byteLength(json);
    if (bytes > LIMITS.callPreliminaryBytes) {
      isOver = true;
      return;
    }
    push(JSON.parse(json));
    timer = setTimeout(write, LIMITS.preliminaryEveryMs);
    timer.unref();
  }

  return {
    show: (result) => {
      if (isOver) return;
      const json = toShownJson(result);
      if (json === undefined) return;
      // As text: the tool may change the value before it is written.
      newest = { json };
      if (timer === undefined) write();
    },
    close: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

function toShownJson(result: unknown): string | undefined {
  if (result === undefined || findJsonFault(result) !== undefined) return undefined;
  const json = JSON.stringify(result);
  return Buffer.byteLength(json) > LIMITS.preliminaryBytes ? undefined : json;
}
