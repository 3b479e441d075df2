import type { ReactElement } from 'react';
import type { HealthPart as Part } from '../../../protocol/health.js';

const SIGNS = { ok: '✓', warn: '!', bad: '✗' } as const;
const WORDS = { ok: 'well', warn: 'look at it', bad: 'act now' } as const;

interface Props {
  name: string;
  title: string;
  part: Part;
}

/** One rule of the verdict: what was found, and what to do about it. */
export function HealthPart({ name, title, part }: Props): ReactElement {
  const { state, text, next } = part;
  return (
    <li className="card health" data-state={state} data-testid="health-part" data-part={name}>
      <h2>
        <span className="sign" aria-hidden="true">
          {SIGNS[state]}
        </span>{' '}
        {title}: {WORDS[state]}
      </h2>
      <p>{text}</p>
      <p className="soft">{next ?? 'Nothing to do.'}</p>
    </li>
  );
}
