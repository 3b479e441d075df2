import type { ReactElement } from 'react';
import type { AgentCard } from '../../protocol/agent-card.js';

interface Props {
  agents: readonly AgentCard[];
  agent: string;
  onChoose: (agent: string) => void;
}

/** The agent answers a whole conversation, so it is chosen before the first message. */
export function AgentChoice({ agents, agent, onChoose }: Props): ReactElement {
  return (
    <label className="agent">
      Agent
      <select
        data-testid="agent"
        value={agent}
        onChange={(event) => {
          onChoose(event.target.value);
        }}
      >
        {agents
          .filter(({ listed, name }) => listed || name === agent)
          .map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
      </select>
    </label>
  );
}
