import { NO_RUN, type Writer } from '../../contract/log.js';
import { keepPage } from '../../../session/streams.js';
import type { Make } from '../make-change.js';
import { PageCollector } from './page-collector.js';

/**
 * Keeps pages of what runs write, beside the appends: a page that is not kept costs later viewers time
 * and nothing else.
 */
export function createKeepPages(
  make: Make,
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
    const given = {
      writer: { runId, name, token },
      from: page.from,
      to: page.to,
      entries: JSON.stringify(page.entries),
    };
    const keeping = make(sessionId, keepPage, given, { mayGrow: true });
    keeping.catch(() => undefined);
  };
}
