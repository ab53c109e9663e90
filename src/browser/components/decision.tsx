import type { ComponentChildren, VNode } from 'preact';
import { Icon } from './icon.tsx';
import { cleanName } from './text.tsx';

/** The account that a page is about. `children`: a control at its end, such as "use another account". */
export function AccountCard({
  displayName,
  identifier,
  children,
}: {
  displayName: string | undefined;
  /** The username, or the full chat identifier. */
  identifier: string;
  children?: ComponentChildren;
}): VNode {
  const shown = displayName === undefined ? '' : cleanName(displayName);
  const name = shown === '' ? identifier : shown;
  return (
    <div class="account">
      <span class="avatar" aria-hidden="true">
        {initialOf(name)}
      </span>
      <div class="account-name">
        <bdi class="name">{name}</bdi>
        {name !== identifier && <bdi class="meta">{identifier}</bdi>}
      </div>
      {children}
    </div>
  );
}

/** Returns the letter shown in place of a missing picture. */
export function initialOf(name: string): string {
  const letter = name.match(/[\p{L}\p{N}]/u);
  return (letter === null ? '?' : letter[0]).toUpperCase();
}

/** One permission that a client requests, as text. */
export interface Permission {
  readonly text: string;
  readonly note?: string;
  readonly isDangerous: boolean;
  /** Whether `text` is the name of a scope, shown as received. */
  readonly isVerbatim?: boolean;
}

/** What a client will be able to do, with dangerous permissions first. */
export function PermissionList({ permissions }: { permissions: readonly Permission[] }): VNode {
  const dangerousFirst = [...permissions].sort((one, other) => Number(other.isDangerous) - Number(one.isDangerous));
  return (
    <ul class="permissions">
      {dangerousFirst.map((permission) => (
        <li class={permission.isDangerous ? 'permission permission-dangerous' : 'permission'}>
          <Icon name={permission.isDangerous ? 'warning' : 'check'} />
          <div>
            {permission.isVerbatim === true ? <code>{permission.text}</code> : permission.text}
            {permission.note !== undefined && <span class="meta">{permission.note}</span>}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** A labeled fact on one line. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }): VNode {
  return (
    <div class="fact">
      <span class="meta">{name}</span>
      <span>{children}</span>
    </div>
  );
}
