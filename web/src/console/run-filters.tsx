import type { ReactElement } from 'react';
import { AGES, type RunSettings } from './run-filter.js';
import { STATUS_WORDS } from './status-words.js';

interface Props {
  settings: RunSettings;
  agents: readonly string[];
  onChange: (changes: Record<string, string>) => void;
}

/** Choices count at once, texts with Enter or when they are left. */
export function RunFilters({ settings, agents, onChange }: Props): ReactElement {
  const choice = (name: string, label: string, options: readonly (readonly [string, string])[]) => (
    <label>
      {label}
      <select
        data-testid={`filter-${name}`}
        value={settings[name] ?? ''}
        onChange={(event) => {
          onChange({ [name]: event.target.value });
        }}
      >
        <option value="">any</option>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  const text = (name: string, label: string, placeholder: string) => (
    <label>
      {label}
      <input
        key={settings[name] ?? ''}
        name={name}
        data-testid={`filter-${name}`}
        defaultValue={settings[name] ?? ''}
        placeholder={placeholder}
        onBlur={(event) => {
          const value = event.target.value.trim();
          if (value !== (settings[name] ?? '')) onChange({ [name]: value });
        }}
      />
    </label>
  );
  return (
    <form
      className="filters"
      role="search"
      aria-label="Filter of runs"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const of = (name: string): string => {
          const value = fields.get(name);
          return typeof value === 'string' ? value.trim() : '';
        };
        onChange({ owner: of('owner'), query: of('query') });
      }}
    >
      {choice('status', 'Status', Object.entries(STATUS_WORDS))}
      {choice(
        'agent',
        'Agent',
        agents.map((name) => [name, name] as const),
      )}
      {choice(
        'age',
        'Started',
        AGES.map(({ name, label }) => [name, label] as const),
      )}
      {text('owner', 'Owner', 'user id')}
      {text('query', 'Temporal filter', 'AgentTurn > 3')}
      <button type="submit" data-testid="filter">
        Filter
      </button>
    </form>
  );
}
