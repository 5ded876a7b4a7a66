import { type RefObject, useEffect } from 'react';
import { useLatest } from './use-latest.ts';

/** Calls when somebody points outside of the element; false: not now. */
export function useOutsideClick(
  element: RefObject<HTMLElement | null> | false,
  onOutside: (target: Node) => void,
): void {
  const act = useLatest(onOutside);
  useEffect(() => {
    if (!element) return;
    const onDown = ({ target }: PointerEvent): void => {
      if (target instanceof Node && !element.current?.contains(target)) act.current(target);
    };
    addEventListener('pointerdown', onDown);
    return () => removeEventListener('pointerdown', onDown);
  }, [element]);
}
