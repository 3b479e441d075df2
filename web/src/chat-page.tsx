import { useEffect, useMemo, useState, useSyncExternalStore, type ReactElement } from 'react';
import { ReplyBrokenError } from '../../ai-sdk/client/index.js';
import { AgentChoice } from './agent-choice.js';
import type { PageConfig } from './api-client.js';
import { CheckpointsDialog } from './checkpoints-dialog.js';
import { Composer } from './composer.js';
import { ConsoleLink } from './console-link.js';
import type { Conversation } from './conversation.js';
import { CurrentConversation } from './current-conversation.js';
import { describeStatus } from './describe-status.js';
import { ErrorLine } from './error-line.js';
import { InboxDialog } from './inbox-dialog.js';
import { pageStatus } from './page-status.js';
import { QueueList } from './queue-list.js';
import { runUrl } from './run-url.js';
import { StateDialog } from './state-dialog.js';
import { StatusLine } from './status-line.js';
import { toToolNames } from './tool-names.js';
import { TopBar } from './top-bar.js';
import { Transcript } from './transcript.js';
import { TurnActions } from './turn-actions.js';
import { usePageChat } from './use-page-chat.js';
import { useWaitingCount } from './use-waiting-count.js';
import { Welcome } from './welcome.js';

interface Props {
  conversation: Conversation;
  config: PageConfig;
  /** Whether the page made this conversation up, so that nothing can be there yet. */
  isMade: boolean;
  onNewChat: () => void;
  onAgent: (agent: string) => void;
  /** Shows another conversation. */
  onOpen: (sessionId: string) => void;
  /** Something happened that a list of conversations shows. */
  onChange: () => void;
  /** Shows the list of conversations. */
  onList: () => void;
}

export function ChatPage(props: Props): ReactElement {
  const { conversation, config, isMade, onNewChat, onAgent, onOpen, onChange, onList } = props;
  const { page } = conversation;
  const { messages, status, error } = usePageChat(conversation);
  const state = useSyncExternalStore(page.subscribe, page.get);

  // The chat loads the conversation again; there is a notice if it cannot.
  const isReloading = ReplyBrokenError.isInstance(error) && state.notice === undefined;
  const reconnecting = state.reconnecting || isReloading;
  const now = pageStatus(status, { ...state, reconnecting }, messages.at(-1));
  const busy = status === 'submitted' || status === 'streaming';
  const names = useMemo(() => toToolNames(config.cards, state.agent), [config.cards, state.agent]);
  const url = runUrl(config, state.runId);
  const [choosing, setChoosing] = useState(false);
  const [reading, setReading] = useState(false);
  const [showsState, setShowsState] = useState(false);
  const rests = now === 'ready' && messages.length > 0 && state.queue.length === 0;
  const fresh = messages.length === 0 && !state.bound && !busy;

  // The reason stands below the reply that failed, beside the button that repeats it.
  const failedReply = state.notice?.ofReply === true && rests;
  const notice = (
    <ErrorLine
      notice={state.notice}
      onRetry={conversation.retry}
      onDismiss={() => {
        page.set({ notice: undefined });
      }}
    />
  );
  const questions = useWaitingCount(`${now} ${state.runId ?? ''} ${String(reading)}`);
  useEffect(onChange, [onChange, now, state.bound, state.runId]);

  return (
    <CurrentConversation value={conversation}>
      <div className="page">
        <TopBar onNewChat={onNewChat} onList={onList}>
          <button
            type="button"
            data-testid="inbox"
            onClick={() => {
              setReading(true);
            }}
          >
            {questions === '' ? 'Inbox' : `Inbox (${questions})`}
          </button>
          <ConsoleLink roles={config.roles} />
          {fresh ? (
            <AgentChoice
              agents={config.cards}
              agent={state.agent}
              onChoose={(agent) => {
                page.set({ agent });
                onAgent(agent);
              }}
            />
          ) : (
            <>
              {url !== undefined && (
                <a
                  className="run-link"
                  data-testid="run-link"
                  href={url}
                  target="_blank"
                  rel="noreferrer"
                >
                  Run in Temporal
                </a>
              )}
              {state.state !== null && (
                <button
                  type="button"
                  data-testid="show-state"
                  onClick={() => {
                    setShowsState(true);
                  }}
                >
                  State
                </button>
              )}
              <button
                type="button"
                data-testid="branch"
                onClick={() => {
                  setChoosing(true);
                }}
              >
                Branch
              </button>
            </>
          )}
        </TopBar>
        {reading && (
          <InboxDialog
            cards={config.cards}
            onOpen={onOpen}
            onClose={() => {
              setReading(false);
            }}
          />
        )}
        {showsState && (
          <StateDialog
            onClose={() => {
              setShowsState(false);
            }}
          />
        )}
        {choosing && (
          <CheckpointsDialog
            onOpen={onOpen}
            onClose={() => {
              setChoosing(false);
            }}
          />
        )}
        <Transcript
          messages={messages}
          live={busy}
          thinking={now === 'thinking' || now === 'starting'}
          actions={
            <>
              {failedReply && notice}
              {rests && <TurnActions />}
            </>
          }
        >
          <Welcome
            agent={config.cards.find(({ name }) => name === state.agent)}
            isFound={isMade || state.bound}
            onSend={conversation.send}
          />
        </Transcript>
        <footer className="foot">
          {!failedReply && notice}
          <StatusLine status={now} detail={describeStatus(now, state, messages.at(-1), names)} />
          <QueueList />
          <Composer
            draft={state.draft}
            attachments={state.attachments}
            accept={conversation.attachments.accept}
            onFiles={conversation.attachments.add}
            onRemoveFile={conversation.attachments.remove}
            busy={busy}
            stopping={state.stopping}
            whenBusy={state.whenBusy}
            blocked={reconnecting || (state.following && !busy)}
            onWhenBusy={(whenBusy) => {
              page.set({ whenBusy });
            }}
            onDraft={(draft) => {
              page.set({ draft });
            }}
            onSend={conversation.send}
            onStop={() => void conversation.stop()}
          />
        </footer>
      </div>
    </CurrentConversation>
  );
}
