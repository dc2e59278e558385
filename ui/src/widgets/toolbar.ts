// Arrow keys along a toolbar: an attachment for the element that has the role. Its buttons are one stop of the Tab key,
// the one that had the focus last; arrows, Home and End go from control to control. Fields and sliders stay stops of
// their own, since arrow keys mean something in them; a radio group in a toolbar keeps its own arrows.

const OWN_ARROWS = 'input, select, textarea, [role=radiogroup] *';

const isShown = (element: HTMLElement) =>
  element.checkVisibility({ visibilityProperty: true }) && !element.matches(':disabled');

export function toolbar(bar: HTMLElement): () => void {
  const stop = new AbortController();
  const controls = () => [...bar.querySelectorAll<HTMLElement>('button, a[href], input, select')].filter(isShown);
  const buttons = () => controls().filter((control) => !control.matches(OWN_ARROWS));
  let last: HTMLElement | undefined;
  const rove = (to: HTMLElement | undefined) => {
    last = to;
    for (const button of buttons()) button.tabIndex = button === to ? 0 : -1;
  };

  bar.addEventListener(
    'focusin',
    (e) => {
      if (e.target instanceof HTMLElement && buttons().includes(e.target)) rove(e.target);
    },
    { signal: stop.signal },
  );
  bar.addEventListener(
    'keydown',
    (e) => {
      const target = e.target as HTMLElement;
      if (e.defaultPrevented || e.altKey || e.ctrlKey || e.metaKey || target.matches(OWN_ARROWS)) return;
      // of a radio group only its own stop
      const all = controls().filter((control) => control.tabIndex === 0 || !control.matches('[role=radiogroup] *'));
      const at = all.indexOf(target);
      if (at < 0) return;
      const to =
        e.key === 'ArrowRight'
          ? Math.min(all.length - 1, at + 1)
          : e.key === 'ArrowLeft'
            ? Math.max(0, at - 1)
            : e.key === 'Home'
              ? 0
              : e.key === 'End'
                ? all.length - 1
                : -1;
      if (to < 0) return;
      e.preventDefault();
      all[to].focus();
    },
    { signal: stop.signal },
  );
  // Buttons come, go and are disabled. The Tab key finds one of those that are there now.
  addEventListener(
    'keydown',
    (e: KeyboardEvent) => {
      if (e.key !== 'Tab') return;
      const all = buttons();
      rove(last && all.includes(last) ? last : all[0]);
    },
    { signal: stop.signal, capture: true },
  );
  // before the next paint: which buttons are shown is known once the page is put together
  const first = requestAnimationFrame(() => {
    if (!bar.contains(document.activeElement)) rove(buttons()[0]);
  });
  return () => {
    cancelAnimationFrame(first);
    stop.abort();
  };
}
