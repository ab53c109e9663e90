import type { ComponentChildren, VNode } from 'preact';

/** Says what will appear in an empty list. `children`: the text, and the next step if there is one. */
export function EmptyState({ icon, children }: { icon: string; children: ComponentChildren }): VNode {
  return (
    <div class="empty-state">
      <DeviceIcon icon={icon} />
      <div>{children}</div>
    </div>
  );
}

/** An icon on a quiet ground. @param icon name of a class `icon-` */
export function DeviceIcon({ icon }: { icon: string }): VNode {
  return (
    <span class="device" aria-hidden="true">
      <span class={`icon icon-${icon}`} />
    </span>
  );
}
