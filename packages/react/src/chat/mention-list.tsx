import { Avatar } from '../shared/avatar.tsx';
import { useTexts } from '../texts.tsx';

interface MentionListProps {
  id: string;
  names: readonly string[];
  chosen: number;
  onPick: (name: string) => void;
}

/** Whom the typed @ may mean. The field keeps the focus and says which one is chosen. */
export function MentionList({ id, names, chosen, onPick }: MentionListProps) {
  const texts = useTexts();
  if (names.length === 0) return null;
  return (
    <div id={id} className="parley-mentions" role="listbox" aria-label={texts.mentionSomebody}>
      {names.map((name, index) => (
        <div
          key={name}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          // Before the field loses the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onPick(name);
          }}
        >
          <Avatar identity={name} name={name} />
          {name}
        </div>
      ))}
    </div>
  );
}
