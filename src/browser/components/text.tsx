import type { ComponentChildren, VNode } from 'preact';

/** The page's only `h1`, with a sentence below it. */
export function Heading({ title, children }: { title: ComponentChildren; children?: ComponentChildren }): VNode {
  return (
    <div class="heading">
      <h1>{title}</h1>
      {children !== undefined && <p class="lead">{children}</p>}
    </div>
  );
}

/** A last line for users on the wrong page: a sentence with a link. */
export function Alternative({ children }: { children: ComponentChildren }): VNode {
  return <p class="alternative">{children}</p>;
}

/** A box. The text of a warning or danger says so too. */
export function Notice({
  kind,
  children,
}: {
  kind: 'info' | 'success' | 'warning' | 'danger';
  children: ComponentChildren;
}): VNode {
  return <div class={`notice notice-${kind}`}>{children}</div>;
}

const MAX_NAME_CHARACTERS = 60;
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Prepares a name that someone else chose (a client's or user's) for use in a sentence: removes control, direction and
 * invisible characters, collapses white space, and truncates to 60 characters.
 */
export function cleanName(name: string): string {
  const characters = [...name.replace(/\s+/g, ' ').replace(INVISIBLE, '').trim()];
  if (characters.length <= MAX_NAME_CHARACTERS) return characters.join('');
  return `${characters.slice(0, MAX_NAME_CHARACTERS - 1).join('')}…`;
}

/** The name of an upstream provider, as the operator wrote it. */
export function ProviderName({ name }: { name: string }): VNode {
  return <bdi class="name">{name}</bdi>;
}

/** The name of a client, isolated from the writing direction of the surrounding sentence. */
export function ClientName({ name }: { name: string }): VNode {
  return <bdi class="name">{cleanName(name)}</bdi>;
}
