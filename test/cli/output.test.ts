import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import {
  createOutput,
  csvLine,
  drawTable,
  type Kind,
  type OutputOptions,
} from '../../cli/output/output.js';
import { shownDuration, shownJson, shownText, shownTime } from '../../cli/output/shown-text.js';
import { runCommandLine } from '../../cli/run.js';
import { createTerminal } from '../../cli/terminal.js';

interface Thing {
  id: string;
  at: number;
}

const THINGS: Kind<Thing> = {
  fields: ['id', 'at'],
  columns: { ID: ({ id }) => id, AT: ({ at }, shown) => shown.time(at) },
  styles: { ID: () => 'red' },
  none: 'No things.',
};

function open(options: Partial<OutputOptions> = {}) {
  const printed: string[] = [];
  const noted: string[] = [];
  const terminal = {
    print: (text: string) => printed.push(text),
    note: (text: string) => noted.push(text),
    style: (_: unknown, text: string) => text,
  };
  const output = createOutput(
    { terminal: terminal as never, now: () => 100_000 },
    {
      output: 'table',
      timeFormat: 'relative',
      ...options,
    },
  );
  return { output, printed, noted };
}

const things: Thing[] = [
  { id: 'a', at: 40_000 },
  { id: 'long', at: 100_000 },
];

describe('results', () => {
  it('a list as a table has columns and nothing else', async () => {
    const { output, printed } = open();
    await output.list(THINGS, things);
    expect(printed).toEqual(['ID    AT\na     1m ago\nlong  0ms ago']);
  });

  it('times of a table are shown as --time-format says', async () => {
    const { output, printed } = open({ timeFormat: 'raw' });
    await output.one(THINGS, { id: 'a', at: 40_000 });
    expect(printed).toEqual(['ID  a\nAT  40000']);
  });

  it('columns stand below each other, whatever colours and wide letters are in them', () => {
    const rows = [
      ['\u001b[31mred\u001b[39m', 'x'],
      ['京都', 'y'],
      ['e\u0301', 'z'],
    ];
    const drawn = stripVTControlCharacters(drawTable([['NAME', 'B'], ...rows]));
    expect(drawn).toBe('NAME  B\nred   x\n京都  y\ne\u0301     z');
  });

  it('a list without items says so on stderr', async () => {
    const { output, printed, noted } = open();
    await output.list(THINGS, []);
    expect({ printed, noted }).toEqual({ printed: [], noted: ['No things.'] });
  });

  it('a list as JSON is one array, also without items', async () => {
    for (const items of [things, []]) {
      const { output, printed } = open({ output: 'json' });
      await output.list(THINGS, items);
      expect(JSON.parse(printed.join(''))).toEqual(items);
    }
  });

  it('a list as lines of JSON is printed while it is read', async () => {
    const { output, printed } = open({ output: 'jsonl' });
    await output.list(
      THINGS,
      (async function* () {
        for (const thing of things) yield thing;
        expect(printed).toHaveLength(2);
      })(),
    );
    expect(printed.map((line) => JSON.parse(line) as Thing)).toEqual(things);
  });

  it('--json picks fields, and refuses those that do not exist', async () => {
    const { output, printed } = open({ json: ['id'] });
    await output.list(THINGS, things);
    expect(JSON.parse(printed.join(''))).toEqual([{ id: 'a' }, { id: 'long' }]);
    await expect(open({ json: ['name'] }).output.list(THINGS, things)).rejects.toThrow(
      '--json: there is no name; there are id, at.',
    );
  });

  it('a list and one thing as CSV have a line of names, and fields as they are picked', async () => {
    const { output, printed } = open({ output: 'csv' });
    await output.list(THINGS, things);
    await output.list(THINGS, []);
    expect(printed).toEqual(['id,at', 'a,40000', 'long,100000', 'id,at']);
    const one = open({ output: 'csv', json: ['id'] });
    await one.output.one(THINGS, { id: 'a', at: 1 });
    expect(one.printed).toEqual(['id', 'a']);
    await expect(output.text({}, () => 'text')).rejects.toThrow('no rows for csv');
  });

  it('text is another name of the table', async () => {
    const { output, printed } = open({ output: 'text' });
    await output.list(THINGS, things);
    expect(printed[0]).toMatch(/^ID +AT/);
  });

  it('none prints nothing', async () => {
    const { output, printed } = open({ output: 'none' });
    await output.list(THINGS, things);
    await output.one(THINGS, { id: 'a', at: 1 });
    await output.text({}, () => 'text');
    expect(printed).toEqual([]);
  });
});

const style = (isTTY: boolean, env: Record<string, string>): string => {
  const stream = { isTTY } as never;
  return createTerminal({ stdin: stream, stdout: stream, stderr: stream }, env).style('red', 'x');
};

it('colours are for terminals only, and NO_COLOR turns them off', () => {
  expect(style(true, {})).toBe('\u001b[31mx\u001b[39m');
  expect(style(true, { NO_COLOR: '1' })).toBe('x');
  expect(style(true, { TERM: 'dumb' })).toBe('x');
  expect(style(false, {})).toBe('x');
});

describe('texts of strangers', () => {
  const EVIL = 'pay 5\u001b[2K\u001b[1A\u009b31m\u202e05 yap\u2067\u061c\u200e\u200f\r\nok';

  it('a text is shown as one line that the terminal does not obey', () =>
    expect(shownText(EVIL)).toBe(
      'pay 5\\u001b[2K\\u001b[1A\\u009b31m\\u202e05 yap\\u2067\\u061c\\u200e\\u200f ok',
    ));

  it('JSON is shown so as well, and means the same', () => {
    const value = { [EVIL]: EVIL };
    // oxlint-disable-next-line no-control-regex -- These are looked for.
    const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2067]/;
    expect(shownJson(value, 2)).not.toMatch(obeyed);
    expect(JSON.parse(shownJson(value, 2))).toEqual(value);
  });

  it('spreadsheets compute nothing of them', () => {
    expect(csvLine(['=1+1', '+1', '-1', '@SUM(A1)', -5, 'a,"b"', undefined, { a: 1 }])).toBe(
      `'=1+1,'+1,'-1,'@SUM(A1),-5,"a,""b""",,"{""a"":1}"`,
    );
    expect(csvLine([EVIL])).not.toContain('\u001b');
  });

  it('a table shows them so', async () => {
    const { output, printed } = open();
    await output.list(THINGS, [{ id: EVIL, at: 0 }]);
    expect(printed.join('')).toContain('\\u001b[2K');
    expect(printed.join('')).not.toContain('\u001b[2K');
  });
});

it('times are shown relative, in ISO 8601, or raw', () => {
  expect(shownTime(1_000, 'relative', 8_000_000)).toBe('2h 13m ago');
  expect(shownTime(61_000, 'relative', 1_000)).toBe('in 1m');
  expect(shownTime(0, 'iso', 1)).toBe('1970-01-01T00:00:00.000Z');
  expect(shownTime(5, 'raw', 1)).toBe('5');
  expect(shownTime(undefined, 'raw', 1)).toBe('-');
  expect(shownDuration(90_061_000)).toBe('1d 1h');
});

it('ends quietly when the reader of its output has closed the pipe, and fails if it cannot write', async () => {
  const stdout = new PassThrough();
  const exit = (code: number): never => {
    throw new Error(`exit ${String(code)}`);
  };
  const host = { argv: ['node', 'helix', '--help'], env: {}, stdout, stderr: new PassThrough() };
  const proc = Object.assign(new EventEmitter(), { ...host, stdin: new PassThrough(), exit });
  await runCommandLine(proc as unknown as NodeJS.Process, '0');
  const fail = (code: string) => () =>
    stdout.emit('error', Object.assign(new Error(code), { code }));
  expect(fail('EPIPE')).toThrow('exit 0');
  expect(fail('ENOSPC')).toThrow('ENOSPC');
});
