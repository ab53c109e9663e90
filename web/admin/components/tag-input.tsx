import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { attributesOf, FieldFrame } from '../../components/choice-fields.tsx';
import { useTexts } from '../i18n/translations.ts';

/** Several names, each added by Enter, and removed by its button. */
export function TagInput({
  name,
  label,
  hint,
  error,
  tags,
  suggestions,
  onChange,
}: {
  /** Name and ID of the input. */
  name: string;
  label: string;
  hint?: string;
  /** Validation error. */
  error?: string | undefined;
  tags: readonly string[];
  /** Names to choose from. Others can be typed. */
  suggestions: readonly string[];
  onChange: (tags: readonly string[]) => void;
}): VNode {
  const { t } = useTexts();
  const [text, setText] = useState('');
  const add = () => {
    const tag = text.trim();
    setText('');
    if (tag !== '' && !tags.includes(tag)) onChange([...tags, tag]);
  };
  const field = { name, label, hint, error };
  return (
    <FieldFrame field={field}>
      {tags.length > 0 && (
        <ul class="tags">
          {tags.map((tag) => (
            <li key={tag}>
              <bdi>{tag}</bdi>
              <button
                type="button"
                aria-label={t('admin.tags.remove', { name: tag })}
                onClick={() => {
                  onChange(tags.filter((other) => other !== tag));
                  document.getElementById(name)?.focus();
                }}
              />
            </li>
          ))}
        </ul>
      )}
      <div class="tag-entry">
        <input
          type="text"
          {...attributesOf(field)}
          list={`${name}-suggestions`}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          dir="auto"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || text.trim() === '') return;
            event.preventDefault();
            add();
          }}
          // What is typed but not added counts as well.
          onBlur={add}
        />
        <datalist id={`${name}-suggestions`}>
          {suggestions
            .filter((suggestion) => !tags.includes(suggestion))
            .map((suggestion) => (
              <option key={suggestion} value={suggestion} />
            ))}
        </datalist>
      </div>
    </FieldFrame>
  );
}
