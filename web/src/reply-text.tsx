import {
  Component,
  lazy,
  Suspense,
  type ComponentType,
  type ReactElement,
  type ReactNode,
} from 'react';
import { PlainText } from './plain-text-view.js';

interface Props {
  text: string;
}

/** The reader of Markdown is half of the page's code, so the page opens without it. */
const Markdown = lazy(async (): Promise<{ default: ComponentType<Props> }> => {
  try {
    const { Markdown } = await import('./markdown.js');
    return { default: Markdown };
  } catch {
    // The server is away, or has a newer page: the reply can be read all the same.
    return { default: PlainText };
  }
});

/** What an agent wrote; plain text while the reader of Markdown is loaded, and where it fails. */
export class ReplyText extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    const plain: ReactElement = <PlainText text={this.props.text} />;
    if (this.state.failed) return plain;
    return (
      <Suspense fallback={plain}>
        <Markdown text={this.props.text} />
      </Suspense>
    );
  }
}
