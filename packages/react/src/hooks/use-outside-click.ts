import { type RefObject, useEffect, useRef } from 'react';

/** Calls when somebody points outside of the element; false: not now. */
export function useOutsideClick(
  element: RefObject<HTMLElement | null> | false,
  onOutside: (target: Node) => void,
): void {
  const act = useRef(onOutside);
  act.current = onOutside;
  useEffect(() => {
    if (!element) return;
    const onDown = ({ target }: PointerEvent): void => {
      if (target instanceof Node && !element.current?.contains(target)) act.current(target);
    };
    addEventListener('pointerdown', onDown);
    return () => removeEventListener('pointerdown', onDown);
  }, [element]);
}
