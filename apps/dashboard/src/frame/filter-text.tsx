import { useEffect, useState } from 'react';
import { TextField } from '../kit/field.tsx';

const quietMs = 300;

/** A filter that is typed: the address and the list follow when the typing pauses. */
export function FilterText(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  /** Where `/` goes. */
  isFirst?: boolean;
}) {
  const [text, setText] = useState(props.value);
  const { value, onChange } = props;
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text.trim()), quietMs);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <TextField
      label={props.label}
      type="search"
      value={text}
      placeholder={props.placeholder}
      spellCheck={false}
      autoComplete="off"
      data-filter={props.isFirst ? '' : undefined}
      onChange={(event) => setText(event.target.value)}
    />
  );
}
