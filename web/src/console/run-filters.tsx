import type { ReactElement } from 'react';
import { Choice } from '../choice.js';
import { STATUS_WORDS } from './status-words.js';

/** Filters as the address names them. */
type RunSettings = Readonly<Record<string, string>>;

/** Choices of age: runs started within `ms`, or longer ago than that. */
const AGES = [
  { name: 'hour', label: 'the last hour', ms: 3_600_000 },
  { name: 'day', label: 'the last 24 hours', ms: 86_400_000 },
  { name: 'week', label: 'the last 7 days', ms: 7 * 86_400_000 },
  { name: 'older-hour', label: 'more than an hour ago', ms: 3_600_000, isOlder: true },
  { name: 'older-day', label: 'more than a day ago', ms: 86_400_000, isOlder: true },
] as const;

/** Converts the settings to the API's filter. Pure. */
export function toRunFilter(settings: RunSettings, now: number): Record<string, string> {
  const { status = '', agent = '', owner = '', query = '', age = '' } = settings;
  const chosen = AGES.find(({ name }) => name === age);
  const at = chosen === undefined ? '' : new Date(now - chosen.ms).toISOString();
  const isOlder = chosen !== undefined && 'isOlder' in chosen;
  const filter = {
    status,
    agent,
    owner,
    query,
    since: isOlder ? '' : at,
    before: isOlder ? at : '',
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
}

export function isEmptyFilter(settings: RunSettings): boolean {
  return Object.keys(toRunFilter(settings, 0)).length === 0;
}

interface Props {
  settings: RunSettings;
  agents: readonly string[];
  onChange: (changes: Record<string, string>) => void;
}

/** Choices apply at once, texts on Enter or blur. */
export function RunFilters({ settings, agents, onChange }: Props): ReactElement {
  const choice = (name: string, label: string, options: readonly (readonly [string, string])[]) => (
    <Choice
      label={label}
      testId={`filter-${name}`}
      value={settings[name] ?? ''}
      options={[['', 'any'], ...options]}
      onChoose={(value) => {
        onChange({ [name]: value });
      }}
    />
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
