import { useChat } from '@ai-sdk/react';
import { useEffect, useSyncExternalStore, type ReactElement } from 'react';
import { AgentChoice } from './agent-choice.js';
import type { PageConfig } from './api-client.js';
import { Composer } from './composer.js';
import type { Conversation } from './conversation.js';
import { ErrorLine } from './error-line.js';
import { pageStatus } from './page-status.js';
import { runUrl } from './run-url.js';
import { StatusLine } from './status-line.js';
import { TopBar } from './top-bar.js';
import { Transcript } from './transcript.js';
import { Welcome } from './welcome.js';

interface Props {
  conversation: Conversation;
  config: PageConfig;
  onNewChat: () => void;
  onAgent: (agent: string) => void;
}

/** Often enough to look continuous, seldom enough to leave the machine time. */
const RENDER_EVERY_MS = 40;

export function ChatPage({ conversation, config, onNewChat, onAgent }: Props): ReactElement {
  const { chat, page, resume } = conversation;
  const { messages, status } = useChat({ chat, resume, throttle: RENDER_EVERY_MS });
  const state = useSyncExternalStore(page.subscribe, page.get);
  useEffect(() => conversation.watch(), [conversation]);

  const now = pageStatus(status, state, messages.at(-1));
  const busy = status === 'submitted' || status === 'streaming';
  const url = runUrl(config, state.runId);
  const fresh = messages.length === 0 && !state.bound && !busy;

  return (
    <div className="page">
      <TopBar onNewChat={onNewChat}>
        {fresh ? (
          <AgentChoice
            agents={config.agents}
            agent={state.agent}
            onChoose={(agent) => {
              page.set({ agent });
              onAgent(agent);
            }}
          />
        ) : (
          url !== undefined && (
            <a
              className="run-link"
              data-testid="run-link"
              href={url}
              target="_blank"
              rel="noreferrer"
            >
              Run in Temporal
            </a>
          )
        )}
      </TopBar>
      <Transcript
        messages={messages}
        live={busy}
        thinking={now === 'thinking'}
        onAnswer={conversation.answer}
      >
        <Welcome agent={state.agent} onSend={conversation.send} />
      </Transcript>
      <footer className="foot">
        <ErrorLine
          notice={state.notice}
          onRetry={conversation.retry}
          onDismiss={() => {
            page.set({ notice: undefined });
          }}
        />
        <StatusLine status={now} />
        <Composer
          draft={state.draft}
          busy={busy}
          stopping={state.stopping}
          blocked={busy || state.reconnecting}
          onDraft={(draft) => {
            page.set({ draft });
          }}
          onSend={conversation.send}
          onStop={() => void conversation.stop()}
        />
      </footer>
    </div>
  );
}
