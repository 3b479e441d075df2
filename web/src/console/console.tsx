import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect, useRef, type ReactElement } from 'react';
import type { PageConfig } from '../api-client.js';
import { SeparateApprovers } from '../question-notes.js';
import { read } from './console-api.js';
import { lazyView } from './lazy-view.js';
import { ProblemNote } from './problem-note.js';
import { formatPlace, Link, type Place, usePlace, type View, VIEWS } from './use-place.js';
import { WaitingView } from './waiting-view.js';

const AgentPauses = lazyView(async () => (await import('./agent-pauses.js')).AgentPauses);
const AuditTrail = lazyView(async () => (await import('./audit-trail.js')).AuditTrail);
const RunView = lazyView(async () => (await import('./run-view.js')).RunView);
const RunsView = lazyView(async () => (await import('./runs-view.js')).RunsView);
const UsageView = lazyView(async () => (await import('./usage-view.js')).UsageView);

/** Shows a tenant's runs and open questions to its staff. */
export function Console(): ReactElement {
  const place = usePlace();
  const config = useQuery({
    queryKey: ['config'],
    queryFn: ({ signal }) => read<PageConfig>('/config', { signal }),
    staleTime: Infinity,
  });
  const title = place === undefined ? 'No such page' : titleOf(place);
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(title);

  useEffect(() => {
    document.title = `${title} – helix console`;
    // Focus moves to the heading so that screen readers announce the new view.
    if (shown.current !== title) heading.current?.focus();
    shown.current = title;
  }, [title]);

  return (
    <div className="console">
      <header className="console-top">
        <a className="skip" href="#content">
          To the content
        </a>
        <span className="brand">helix console</span>
        <a href="/">Chat</a>
        <nav aria-label="Views">
          {(Object.keys(VIEWS) as View[]).map((view) => (
            <Link
              key={view}
              href={formatPlace({ view })}
              aria-current={place?.view === view ? 'page' : undefined}
            >
              {VIEWS[view]}
            </Link>
          ))}
        </nav>
      </header>
      <main id="content">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <ProblemNote error={config.error} what="The console" />
        {place === undefined && <p>The address leads nowhere. Choose a view above.</p>}
        {place !== undefined && config.data !== undefined && (
          <Suspense fallback={<p role="status">Loading…</p>}>
            <SeparateApprovers value={config.data.separateApprovers}>
              <Shown place={place} config={config.data} />
            </SeparateApprovers>
          </Suspense>
        )}
      </main>
    </div>
  );
}

function Shown({ place, config }: { place: Place; config: PageConfig }): ReactElement {
  const { view, item } = place;
  if (view === 'usage') return <UsageView place={place} />;
  if (view === 'agents') return <AgentPauses roles={config.roles} />;
  if (view === 'audit') return <AuditTrail />;
  if (view === 'waiting') return <WaitingView place={place} config={config} />;
  if (item === undefined) return <RunsView place={place} config={config} />;
  return <RunView key={item} runId={item} config={config} />;
}

function titleOf({ view, item }: Place): string {
  return view === 'runs' && item !== undefined ? `Run ${item}` : VIEWS[view];
}
