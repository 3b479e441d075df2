import type { Keyspace } from '../../../../stores/memory/keyspace.js';
import { SESSION } from '../plan.js';
import { keysOf } from '../requests/request.js';

const WORD = /"delta":"([^"]*)"|"eventName":"progress","data":(\d+)/;

/** What each writer of the newest run has in the log: the deltas of models, the events of tools. */
export function textsByWriter(keyspace: Keyspace): Map<string, string> {
  const { stream } = keysOf(SESSION);
  const entries = keyspace.call('XRANGE', stream, '-', '+') as [string, string[]][];
  const texts = new Map<string, string>();
  for (const [, [, writer = '', , json = '']] of entries) {
    if (writer === '') {
      // Writers of the next run have the same names.
      if (json.includes('"type":"stream_end"')) texts.clear();
      continue;
    }
    const found = WORD.exec(json);
    if (found === null) continue;
    const [, delta, data = ''] = found;
    texts.set(writer, `${texts.get(writer) ?? ''}${delta ?? data}`);
  }
  return texts;
}
