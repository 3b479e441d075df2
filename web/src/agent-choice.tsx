import type { ReactElement } from 'react';

interface Props {
  agents: string[];
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
        {agents.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
