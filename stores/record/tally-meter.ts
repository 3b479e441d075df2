import type { RunEvent, RunMeter } from '../../protocol/run-meter.js';
import type { Tallies } from '../contract/tallies.js';

/** Counts are sent together, at most this often. */
const SEND_MS = 2_000;

export interface TallyMeter {
  meter: RunMeter;
  /** Sends what is left. */
  close: () => Promise<void>;
}

/**
 * Counts events for all processes together, so that one of them can say how the service does. Counts
 * that cannot be sent are dropped: they are no part of the record.
 */
export function createTallyMeter(tallies: Tallies | undefined): TallyMeter {
  let counts: Record<string, number> = {};
  let timer: NodeJS.Timeout | undefined;

  async function send(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const sent = counts;
    counts = {};
    if (tallies === undefined || Object.keys(sent).length === 0) return;
    await tallies.add(sent).catch(() => undefined);
  }

  return {
    meter: (event) => {
      const name = nameOf(event);
      if (name === undefined || tallies === undefined) return;
      counts[name] = (counts[name] ?? 0) + 1;
      timer ??= setTimeout(() => void send(), SEND_MS).unref();
    },
    close: send,
  };
}

/** The count that an event adds to; undefined for what is not counted. Pure. */
function nameOf(event: RunEvent): string | undefined {
  switch (event.kind) {
    case 'run_ended':
      return event.code === undefined ? `run:${event.status}` : `run:failed:${event.code}`;
    case 'model_called':
      return `model:${event.code ?? 'ok'}`;
    case 'tool_executed':
      // Authors of tools choose their own codes.
      return event.code === undefined ? 'tool:ok' : 'tool:failed';
    case 'call_answered':
      return `answer:${event.decision}`;
    case 'session_swept':
      return `swept:${event.found}`;
    case 'lease_judged':
      return 'lease:judged';
    case 'notice_tried':
      return `notice:${event.outcome}`;
    default:
      return undefined;
  }
}
