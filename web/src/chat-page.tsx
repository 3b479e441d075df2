import {
  useCallback,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
  type ReactElement,
} from 'react';
import { ReplyBrokenError } from '../../ai-sdk/client/index.js';
import type { AgentCard } from '../../protocol/replies.js';
import { toWords } from '../../protocol/shown-call.js';
import { mayAs, runUrl, type PageConfig } from './api-client.js';
import { CheckpointsDialog } from './checkpoints-dialog.js';
import { Choice } from './choice.js';
import { Composer } from './composer.js';
import { BASE } from './console/use-place.js';
import type { Conversation } from './conversation.js';
import {
  CurrentConversation,
  useCurrentConversation,
  usePageState,
} from './current-conversation.js';
import { useClock } from './deadline-note.js';
import { Value } from './field-list.js';
import { InboxDialog, loadWaiting } from './inbox-dialog.js';
import { useLoaded } from './load-fault.js';
import { filesOf, textOf } from './message-text.js';
import { Modal } from './modal.js';
import { describeStatus, isBusy, pageStatus } from './page-status.js';
import type { QueueEntry } from './page-store.js';
import { QueuedMessage } from './queued-message.js';
import { StatusLine } from './status-line.js';
import { toToolNames } from './tool-names.js';
import { TopBar } from './top-bar.js';
import { Transcript } from './transcript.js';
import { usePageChat } from './use-conversation.js';

/** Props that the surrounding pages give a session's page. */
export interface SessionPageProps {
  /** True if this page generated the session id, so the server cannot know it yet. */
  isMade: boolean;
  onNewChat: () => void;
  onAgent: (agent: string) => void;
  onOpen: (sessionId: string) => void;
  /** Called when a list of conversations may be out of date. */
  onChange: () => void;
}

interface Props extends SessionPageProps {
  conversation: Conversation;
  config: PageConfig;
}

export function ChatPage(props: Props): ReactElement {
  const { conversation, config, isMade, onNewChat, onAgent, onOpen, onChange } = props;
  const { page } = conversation;
  const { messages, status, error } = usePageChat(conversation);
  const state = useSyncExternalStore(page.subscribe, page.get);

  // The chat reloads the conversation and sets a notice if that fails.
  const isReloading = ReplyBrokenError.isInstance(error) && state.notice === undefined;
  const reconnecting = state.reconnecting || isReloading;
  const now = pageStatus(status, { ...state, reconnecting }, messages.at(-1));
  const busy = isBusy(status);
  const names = useMemo(() => toToolNames(config.cards, state.agent), [config.cards, state.agent]);
  const url = runUrl(config, state.runId);
  const [dialog, setDialog] = useState<'inbox' | 'state' | 'steps'>();
  const close = (): void => setDialog(undefined);
  const rests = now === 'ready' && messages.length > 0 && state.queue.length === 0;
  const fresh = messages.length === 0 && !state.bound && !busy;

  // The reason is shown below the failed reply, next to the button that repeats it.
  const failedReply = state.notice?.ofReply === true && rests;
  const questions = useWaitingCount(`${now} ${state.runId ?? ''} ${String(dialog === 'inbox')}`);
  useEffect(onChange, [onChange, now, state.bound, state.runId]);

  return (
    <CurrentConversation value={conversation}>
      <div className="page">
        <TopBar onNewChat={onNewChat}>
          <button type="button" data-testid="inbox" onClick={() => setDialog('inbox')}>
            {questions === '' ? 'Inbox' : `Inbox (${questions})`}
          </button>
          <ConsoleLink roles={config.roles} />
          {fresh ? (
            // One agent answers the whole conversation, so it is chosen before the first message.
            <Choice
              className="agent"
              label="Agent"
              testId="agent"
              value={state.agent}
              options={config.cards
                .filter(({ listed, name }) => listed || name === state.agent)
                .map(({ name, title }) => [name, title] as const)}
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
                <button type="button" data-testid="show-state" onClick={() => setDialog('state')}>
                  State
                </button>
              )}
              <button type="button" data-testid="branch" onClick={() => setDialog('steps')}>
                Branch
              </button>
            </>
          )}
        </TopBar>
        {dialog === 'inbox' && <InboxDialog cards={config.cards} onOpen={onOpen} onClose={close} />}
        {dialog === 'state' && <StateDialog onClose={close} />}
        {dialog === 'steps' && <CheckpointsDialog onOpen={onOpen} onClose={close} />}
        <Transcript
          messages={messages}
          live={busy}
          thinking={now === 'thinking' || now === 'starting'}
          actions={
            <>
              {failedReply && <ErrorLine />}
              {rests && <TurnActions />}
            </>
          }
        >
          <Welcome
            agent={config.cards.find(({ name }) => name === state.agent)}
            isFound={isMade || state.bound}
          />
        </Transcript>
        <footer className="foot">
          {!failedReply && <ErrorLine />}
          <StatusLine status={now} detail={describeStatus(now, state, messages.at(-1), names)} />
          <QueueList />
          <Composer busy={busy} blocked={reconnecting || (state.following && !busy)} />
        </footer>
      </div>
    </CurrentConversation>
  );
}

/** Links to the console for people with a role in it. */
export function ConsoleLink({ roles }: Pick<PageConfig, 'roles'>): ReactElement | null {
  if (!mayAs(roles, 'viewer')) return null;
  return (
    <a className="run-link" data-testid="to-console" href={BASE}>
      Console
    </a>
  );
}

const MODES: Record<QueueEntry['mode'], string> = {
  queue: 'waits for its turn',
  steer: 'goes into the next step',
  interrupt: 'is answered as soon as the reply has stopped',
};

/** Lists the queued messages, which can be edited and withdrawn until their turn begins. */
function QueueList(): ReactElement | null {
  const queue = usePageState((page) => page.queue);
  if (queue.length === 0) return null;
  return (
    <ul className="queue" aria-label="Messages that wait" data-testid="queue">
      {queue.flatMap(({ messages, mode }) =>
        messages.map((message) => (
          <QueuedMessage
            key={message.id}
            id={message.id}
            text={textOf(message)}
            files={filesOf(message)}
            mode={MODES[mode]}
          />
        )),
      )}
    </ul>
  );
}

/** Shows the agent's state from the newest snapshot. */
function StateDialog({ onClose }: { onClose: () => void }): ReactElement {
  const state = usePageState((page) => page.state) ?? {};
  return (
    <Modal className="checkpoints" title="What the agent keeps" hasClose onClose={onClose}>
      <div data-testid="state">
        {Object.entries(state).map(([name, value]) => (
          <Value key={name} label={toWords(name)} value={value} />
        ))}
      </div>
    </Modal>
  );
}

/** Actions on an ended turn: resume it if it was interrupted, or repeat it. */
function TurnActions(): ReactElement {
  const { controls, regenerate } = useCurrentConversation();
  const status = usePageState((page) => page.runStatus);
  const isFailed = status === 'failed' || status === 'aborted';
  return (
    <div className="turn-actions">
      {status === 'interrupted' && (
        <button type="button" data-testid="go-on" onClick={() => void controls.resume()}>
          Continue
        </button>
      )}
      <button type="button" data-testid="regenerate" onClick={regenerate}>
        {isFailed ? 'Try again' : 'Answer again'}
      </button>
    </div>
  );
}

const EVERY_MS = 30_000;

/**
 * Returns the number of open questions in all conversations as text, or an empty string. Reads it again when
 * `version` changes, and every half minute.
 */
function useWaitingCount(version: unknown): string {
  const now = useClock(EVERY_MS);
  const read = useCallback(() => loadWaiting(), [version, now]);
  // The inbox shows what is wrong.
  const { found } = useLoaded(read, 'The inbox');
  const known = found?.sessions.reduce((sum, { pending }) => sum + pending.length, 0) ?? 0;
  return known === 0 ? '' : `${String(known)}${found?.hasMore === true ? '+' : ''}`;
}

function ErrorLine(): ReactElement | null {
  const { page, retry } = useCurrentConversation();
  const notice = usePageState((state) => state.notice);
  if (notice === undefined) return null;
  return (
    <div className="error-line" role="alert" data-testid="error-line">
      <span>{notice.text}</span>
      {notice.retry && (
        <button type="button" data-testid="retry" onClick={retry}>
          Retry
        </button>
      )}
      <button
        type="button"
        className="plain"
        aria-label="Dismiss"
        onClick={() => page.set({ notice: undefined })}
      >
        ×
      </button>
    </div>
  );
}

interface WelcomeProps {
  agent: AgentCard | undefined;
  /** False if the address came from elsewhere and names no known conversation. */
  isFound: boolean;
}

function Welcome({ agent, isFound }: WelcomeProps): ReactElement {
  const { send } = useCurrentConversation();
  return (
    <div className="welcome">
      <h2>{agent?.title ?? 'New conversation'}</h2>
      {agent?.description !== undefined && <p>{agent.description}</p>}
      {isFound ? (
        <p>
          The conversation is kept on the server: reload at any moment, or open this address
          elsewhere.
        </p>
      ) : (
        <p data-testid="nothing-here">
          There is nothing at this address yet, or it belongs to someone else.
        </p>
      )}
      <div className="openers">
        {agent?.openers.map(({ label, text }) => (
          <button key={label} type="button" onClick={() => send(text)}>
            {label}
          </button>
        ))}
      </div>
    </div>
  );
}
