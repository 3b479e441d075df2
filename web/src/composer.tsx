import {
  type KeyboardEvent,
  type ReactElement,
  type SyntheticEvent,
  useEffect,
  useRef,
} from 'react';
import type { WhenBusy } from './page-store.js';
import { useCurrentConversation, usePageState } from './current-conversation.js';
import { Choice } from './choice.js';
import { FileView } from './file-view.js';

/** Labels for the handling of a message that is sent during a reply. */
const WHEN_BUSY: readonly (readonly [WhenBusy, string])[] = [
  ['queue', 'after this reply'],
  ['steer', 'into the next step'],
  ['interrupt', 'now, stopping the reply'],
];

interface Props {
  /** True while a reply is in progress and can be stopped. */
  busy: boolean;
  /** True while nothing can be sent; the person can keep typing. */
  blocked: boolean;
}

export function Composer({ busy, blocked }: Props): ReactElement {
  const { page, attachments: files, send, stop } = useCurrentConversation();
  const { draft, attachments, stopping, whenBusy } = usePageState((state) => state);
  // Sending waits for uploads, and for the person to remove files that failed.
  const isComplete = attachments.every(({ part }) => part !== undefined);
  const isEmpty = draft.trim() === '' && attachments.length === 0;
  const cannotSend = blocked || isEmpty || !isComplete;
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // A phone's on-screen keyboard would cover the conversation.
    if (!window.matchMedia('(pointer: coarse)').matches) box.current?.focus();
  }, []);

  const submit = (): void => {
    if (!cannotSend) send(draft.trim());
  };
  const sendOnEnter = (event: KeyboardEvent): void => {
    // Enter also ends the composition of a character in many scripts.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };

  const takeFiles = (event: SyntheticEvent, data: DataTransfer | null): void => {
    const given = [...(data?.files ?? [])];
    if (given.length === 0) return;
    event.preventDefault();
    files.add(given);
  };

  return (
    <form
      // On a phone, two buttons in this row would leave the text too narrow a column.
      className={busy && !isEmpty ? 'composer with-both' : 'composer'}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes('Files')) event.preventDefault();
      }}
      onDrop={(event) => takeFiles(event, event.dataTransfer)}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <AttachmentList />
      {files.accept !== undefined && <AttachButton accept={files.accept} />}
      <label className="hidden" htmlFor="composer">
        Your message
      </label>
      <textarea
        id="composer"
        data-testid="composer"
        ref={box}
        rows={1}
        placeholder="Write a message"
        value={draft}
        onChange={(event) => page.set({ draft: event.target.value })}
        onKeyDown={sendOnEnter}
        onPaste={(event) => takeFiles(event, event.clipboardData)}
      />
      {busy && (
        <button type="button" data-testid="stop" disabled={stopping} onClick={() => void stop()}>
          Stop
        </button>
      )}
      {(!busy || !isEmpty) && (
        <button type="submit" className="primary" data-testid="send" disabled={cannotSend}>
          Send
        </button>
      )}
      {busy && !isEmpty && (
        <Choice
          className="busy-choice"
          label="Your next message goes "
          testId="when-busy"
          value={whenBusy}
          options={WHEN_BUSY}
          onChoose={(chosen) => page.set({ whenBusy: chosen })}
        />
      )}
    </form>
  );
}

function AttachButton({ accept }: { accept: string }): ReactElement {
  const { attachments } = useCurrentConversation();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={accept}
        data-testid="file-input"
        onChange={(event) => {
          attachments.add([...(event.target.files ?? [])]);
          // Lets the person choose the same file again.
          event.target.value = '';
        }}
      />
      <button
        type="button"
        data-testid="attach"
        aria-label="Attach files"
        title="Attach files"
        onClick={() => input.current?.click()}
      >
        +
      </button>
    </>
  );
}

/** Lists the files of the message in the composer. */
function AttachmentList(): ReactElement | null {
  const { remove } = useCurrentConversation().attachments;
  const attachments = usePageState((page) => page.attachments);
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Files of your message" data-testid="attachments">
      {attachments.map(({ key, name, part, fault }) => (
        <li key={key} data-testid="attachment" data-state={fault ?? (part ? 'ready' : 'sending')}>
          {part === undefined ? <span className="file">{name}</span> : <FileView file={part} />}
          {fault !== undefined && (
            <span className="fault" role="alert">
              {fault}
            </span>
          )}
          {fault === undefined && part === undefined && <span role="status">Sending…</span>}
          <button type="button" aria-label={`Remove ${name}`} onClick={() => remove(key)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
