/** Groups events by day, in the time zone of the browser. */
const DAY_MS = 86_400_000;

/** Events of one day, newest first. `at`: the newest. */
interface Day<Event> {
  readonly at: Date;
  readonly events: readonly Event[];
}

/** @param events from old to new */
export function byDay<Event extends { readonly createdAt: string }>(events: readonly Event[]): readonly Day<Event>[] {
  const days = new Map<string, { readonly at: Date; readonly events: Event[] }>();
  for (const event of events.toReversed()) {
    const at = new Date(event.createdAt);
    const day = days.get(at.toDateString());
    if (day === undefined) days.set(at.toDateString(), { at, events: [event] });
    else day.events.push(event);
  }
  return [...days.values()];
}

/** Returns "today", "yesterday" or the date, in words. */
export function dayText(language: string, at: Date, now: Date): string {
  const age = Math.round((startOf(now) - startOf(at)) / DAY_MS);
  if (age === 0 || age === 1) return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(-age, 'day');
  const year = at.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return at.toLocaleDateString(language, { weekday: 'long', day: 'numeric', month: 'long', year });
}

function startOf(time: Date): number {
  return new Date(time).setHours(0, 0, 0, 0);
}
