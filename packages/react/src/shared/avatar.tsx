import { colourOf, initialsOf } from './names.ts';

/** Stands for a person without a picture; the name is said beside it. */
export function Avatar({ identity, name }: { identity: string; name: string }) {
  return (
    <span className="parley-avatar" style={{ background: colourOf(identity) }} aria-hidden="true">
      {initialsOf(name)}
    </span>
  );
}
