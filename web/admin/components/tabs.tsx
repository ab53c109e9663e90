import type { VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { withParameters } from '../api/admin-client.ts';

export interface Tab<Name extends string> {
  /** Value of the URL parameter `tab`. The first one is shown without the parameter. */
  readonly name: Name;
  readonly title: string;
}

/** Returns the tab that the URL names, or the first. */
export function useTab<Name extends string>(tabs: readonly [Tab<Name>, ...Tab<Name>[]]): Name {
  const { query } = useLocation();
  return (tabs.find(({ name }) => name === query['tab']) ?? tabs[0]).name;
}

/** Links to the parts of a page, each with a URL of its own. */
export function Tabs<Name extends string>({
  label,
  tabs,
  shown,
}: {
  /** Accessible name. */
  label: string;
  tabs: readonly Tab<Name>[];
  shown: Name;
}): VNode {
  const { path } = useLocation();
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, title }, index) => (
        <a
          key={name}
          href={withParameters(path, { tab: index === 0 ? undefined : name })}
          aria-current={name === shown ? 'page' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
