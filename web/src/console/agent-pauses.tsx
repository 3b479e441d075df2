import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { OperatorAgents } from '../../../protocol/operator.js';
import { mayAs, type PageConfig } from '../api-client.js';
import { formatWhen } from '../format-when.js';
import { ConfirmDialog } from './confirm-dialog.js';
import { act, read } from './console-api.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';

/** Lists the agents; operators pause and resume the start of their new runs. */
export function AgentPauses({ roles }: { roles: PageConfig['roles'] }): ReactElement {
  const [asked, setAsked] = useState<{ agent: string; act: 'pause' | 'unpause' }>();
  const queries = useQueryClient();
  const agents = useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) => read<OperatorAgents>('/operator/agents', { signal }),
    refetchInterval: REFRESH_MS.usual,
  });
  const mayPause = mayAs(roles, 'operator');
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">Agents</h2>
      <ProblemNote error={agents.error} what="The list of agents" />
      <ul className="cards">
        {agents.data?.agents.map(({ name, pauses, held }) => {
          const isPaused = pauses.some(({ everywhere }) => !everywhere);
          return (
            <li key={name} className="card row" data-testid="agent" data-agent={name}>
              <span>
                <strong>{name}</strong>{' '}
                <span className="soft">
                  {pauses.length === 0
                    ? 'takes new runs'
                    : pauses
                        .map(({ by, at, reason, everywhere }) =>
                          [
                            `paused${everywhere ? ' for all tenants' : ''} ${formatWhen(at)}`,
                            by === undefined ? '' : ` by ${by}`,
                            reason === undefined ? '' : `: ${reason}`,
                          ].join(''),
                        )
                        .join('; ')}
                  {held > 0 && `, ${String(held)} wait for it`}
                </span>
              </span>
              {mayPause && (
                <button
                  type="button"
                  data-testid={isPaused ? 'unpause' : 'pause'}
                  onClick={() => setAsked({ agent: name, act: isPaused ? 'unpause' : 'pause' })}
                >
                  {isPaused ? 'Resume' : 'Pause'}
                  <span className="hidden"> {name}</span>
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {asked !== undefined && (
        <ConfirmDialog
          title={`${asked.act === 'pause' ? 'Pause' : 'Resume'} ${asked.agent}?`}
          verb={asked.act === 'pause' ? 'Pause the agent' : 'Resume the agent'}
          onConfirm={async (reason) => {
            const path = `/operator/agents/${encodeURIComponent(asked.agent)}/${asked.act}`;
            await act(path, reason === undefined ? {} : { reason });
            await queries.invalidateQueries({ queryKey: ['agents'] });
            setAsked(undefined);
          }}
          onClose={() => setAsked(undefined)}
        >
          <p>
            {asked.act === 'pause'
              ? 'Its runs continue. New ones wait until it is resumed.'
              : 'What waited starts in its order, 20 runs a second.'}
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}
