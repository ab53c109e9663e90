import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { attributesOf, FieldFrame, type Frame } from '../../../components/choice-fields.tsx';

/** A field for JSON, with line numbers. Enter keeps the indentation; Tab leaves the field as usual. */
export function JsonField(field: Frame): VNode {
  const numbers = useRef<HTMLPreElement>(null);
  const lines = field.value.split('\n').length;
  return (
    <FieldFrame field={field}>
      <div class="json-field" dir="ltr">
        <pre ref={numbers} class="json-lines" aria-hidden="true">
          {Array.from({ length: lines }, (_, index) => index + 1).join('\n')}
        </pre>
        <textarea
          {...attributesOf(field)}
          rows={Math.min(30, Math.max(8, lines + 1))}
          wrap="off"
          dir="ltr"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="none"
          value={field.value}
          onInput={(event) => field.onInput(event.currentTarget.value)}
          onKeyDown={keepIndentation}
          // Browsers scroll only to the line with the cursor.
          onFocus={(event) => event.currentTarget.scrollIntoView({ block: 'nearest' })}
          onScroll={(event) => {
            if (numbers.current !== null) numbers.current.scrollTop = event.currentTarget.scrollTop;
          }}
        />
      </div>
    </FieldFrame>
  );
}

function keepIndentation(event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }): void {
  const { value, selectionStart: start } = event.currentTarget;
  if (event.key !== 'Enter' || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const line = value.slice(value.lastIndexOf('\n', start - 1) + 1, start);
  const indentation = /^[ \t]*/.exec(line)?.[0] ?? '';
  const deeper = /[[{]\s*$/.test(line) ? '  ' : '';
  // Unlike a new value, this can be undone. Without it, the browser inserts the line break.
  if (document.execCommand('insertText', false, `\n${indentation}${deeper}`)) event.preventDefault();
}

/** Moves the cursor to a place in a field, and the place into view. */
export function showPlace(name: string, offset: number): void {
  const field = document.getElementById(name);
  if (!(field instanceof HTMLTextAreaElement)) return;
  field.focus();
  field.setSelectionRange(offset, offset);
  const line = field.value.slice(0, offset).split('\n').length;
  const height = field.scrollHeight / Math.max(1, field.value.split('\n').length);
  field.scrollTop = Math.max(0, (line - 4) * height);
}
