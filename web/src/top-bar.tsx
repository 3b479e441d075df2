import { useRef, useState, type ReactElement, type ReactNode } from 'react';
import { useClosing } from './use-closing.js';

interface Props {
  onNewChat: () => void;
  /** Opens the list of conversations on narrow screens, which hide it. */
  onList: () => void;
  /** Further actions; a menu on narrow screens. */
  children?: ReactNode;
}

export function TopBar({ onNewChat, onList, children }: Props): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const tools = useRef<HTMLDivElement>(null);
  const more = useRef<HTMLButtonElement>(null);
  // The menu hides the chosen item, so focus moves to the menu's button.
  const close = (): void => {
    if (isOpen) more.current?.focus();
    setOpen(false);
  };
  useClosing(isOpen, [tools, more], (isByKey) => {
    if (isByKey) close();
    else setOpen(false);
  });
  return (
    <header className="top">
      <button
        type="button"
        className="narrow"
        aria-label="Conversations"
        aria-controls="conversations"
        data-testid="list"
        onClick={onList}
      >
        ☰
      </button>
      <h1>helix</h1>
      <div
        className={isOpen ? 'top-tools open' : 'top-tools'}
        id="top-tools"
        ref={tools}
        onClick={({ target }) => {
          if (target instanceof Element && target.closest('button, a') !== null) close();
        }}
        onChange={close}
      >
        {children}
      </div>
      {children !== undefined && (
        <button
          type="button"
          className="narrow"
          aria-label="More"
          ref={more}
          aria-expanded={isOpen}
          aria-controls="top-tools"
          data-testid="more"
          onClick={() => setOpen(!isOpen)}
        >
          ⋯
        </button>
      )}
      <button type="button" className="narrow" data-testid="new-chat" onClick={onNewChat}>
        New chat
      </button>
    </header>
  );
}
