interface SelectProps {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  isDisabled?: boolean;
  onChange: (value: string) => void;
}

export function Select({ label, value, options, isDisabled, onChange }: SelectProps) {
  return (
    <label className="parley-field">
      {label}
      <select
        className="parley-input"
        value={value}
        disabled={isDisabled}
        onChange={({ target }) => onChange(target.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
