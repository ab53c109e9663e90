import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../src/browser/components/text.tsx';

/** @param path of the page that shows the message; the page that is open unless given */
type Tell = (text: ComponentChildren, path?: string) => void;

const TellContext = createContext<Tell>(() => undefined);

/** Says that a change was made: every successful change says so, since screen readers do not see what else changed. */
export function useTell(): Tell {
  return useContext(TellContext);
}

interface Message {
  readonly text: ComponentChildren;
  readonly path: string;
  /** Differs from that of the message before, so that the same text is read out again. */
  readonly id: number;
}

/** Shows the last message above its page until the user goes to another one. */
export function Told({ children }: { children: ComponentChildren }): VNode {
  const { path } = useLocation();
  const [told, setTold] = useState<Message | undefined>();
  const count = useRef(0);
  useEffect(() => setTold((last) => (last?.path === path ? last : undefined)), [path]);
  const tell = useCallback<Tell>(
    (text, of = path) => {
      count.current += 1;
      // The router leaves a final slash out.
      setTold({ text, path: of.replace(/\/$/, ''), id: count.current });
    },
    [path],
  );
  return (
    <TellContext.Provider value={tell}>
      <div class="told" role="status">
        {told?.path === path && (
          <Notice key={told.id} kind="success">
            {told.text}
          </Notice>
        )}
      </div>
      {children}
    </TellContext.Provider>
  );
}
