import { NO_RUN, type Writer } from '../../contract/log.js';
import type { Transitions } from '../transitions.js';
import { PageCollector } from './page-collector.js';

/**
 * Keeps pages of what runs write, beside the appends: a page that is not kept costs later viewers time
 * and nothing else.
 */
export function createKeepPages(
  transitions: Pick<Transitions, 'run'>,
): (writer: Writer, messages: readonly string[], sequence: number) => void {
  const collectors = new WeakMap<Writer, PageCollector>();
  return (writer, messages, sequence) => {
    const { sessionId, runId, name, token } = writer;
    if (runId === NO_RUN) return;
    let collector = collectors.get(writer);
    if (collector === undefined) {
      collector = new PageCollector(name);
      collectors.set(writer, collector);
    }
    const page = collector.add(messages, sequence);
    if (page === undefined) return;
    const keeping = transitions.run('keepPage', sessionId, (contents) => ({
      writer: { runId, name, token },
      from: page.from,
      to: page.to,
      entries: contents.add(JSON.stringify(page.entries)),
    }));
    keeping.catch(() => undefined);
  };
}
