import { SelectField } from '../kit/field.tsx';

/** A filter that is chosen; the first option is no filter. */
export function FilterSelect(props: {
  label: string;
  /** What no filter is called. */
  any: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  onChange: (value: string) => void;
}) {
  const { label, any, value, options, onChange } = props;
  return (
    <SelectField
      label={label}
      value={value}
      options={[['', any] as const, ...options].map(([option, text]) => ({ value: option, label: text }))}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
