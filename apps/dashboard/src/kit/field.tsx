import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react';
import { t } from '../i18n/t.ts';

interface FieldFrame {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  /** The label is only for those who do not see the page: the place says it already. */
  isLabelHidden?: boolean;
}

interface Described {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

function Frame({
  label,
  hint,
  error,
  isLabelHidden = false,
  children,
}: FieldFrame & { children: (props: Described) => ReactNode }) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {error && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = FieldFrame & InputHTMLAttributes<HTMLInputElement>;

export function TextField({ label, hint, error, isLabelHidden, ...input }: TextFieldProps) {
  return (
    <Frame {...{ label, hint, error, isLabelHidden }}>
      {(props) => <input className="input" type="text" {...input} {...props} />}
    </Frame>
  );
}

export function TextArea({
  label,
  hint,
  error,
  isLabelHidden,
  ...input
}: FieldFrame & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Frame {...{ label, hint, error, isLabelHidden }}>
      {(props) => <textarea className="input" rows={5} {...input} {...props} />}
    </Frame>
  );
}

interface Option {
  value: string;
  label: string;
}

export function SelectField({
  label,
  hint,
  error,
  isLabelHidden,
  options,
  ...select
}: FieldFrame & SelectHTMLAttributes<HTMLSelectElement> & { options: readonly Option[] }) {
  return (
    <Frame {...{ label, hint, error, isLabelHidden }}>
      {(props) => (
        <select className="input" {...select} {...props}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Frame>
  );
}

export function PasswordField(props: TextFieldProps) {
  const [isShown, setShown] = useState(false);
  const [hasCapsLock, setCapsLock] = useState(false);
  return (
    <div className="password-field">
      <TextField
        {...props}
        type={isShown ? 'text' : 'password'}
        hint={hasCapsLock ? t('kit.capsLock') : props.hint}
        spellCheck={false}
        autoCapitalize="none"
        onKeyUp={(event) => setCapsLock(event.getModifierState('CapsLock'))}
        onBlur={() => setCapsLock(false)}
      />
      <button
        type="button"
        className="password-toggle"
        aria-label={isShown ? t('kit.hidePassword') : t('kit.showPassword')}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? t('kit.hide') : t('kit.show')}
      </button>
    </div>
  );
}

export function Checkbox({
  label,
  hint,
  ...input
}: InputHTMLAttributes<HTMLInputElement> & { label: ReactNode; hint?: ReactNode }) {
  const id = useId();
  return (
    <div className="checkbox">
      <input type="checkbox" id={id} aria-describedby={hint ? `${id}-hint` : undefined} {...input} />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface SegmentOption<T extends string> {
  value: T;
  label: string;
  /** What is left of the label on a narrow page. */
  short?: string;
  tone?: 'warn';
}

/** A few choices of which one holds: radio buttons in one row. */
export function Segments<T extends string>(props: {
  label: string;
  value: NoInfer<T>;
  options: readonly SegmentOption<T>[];
  onChange: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">{props.label}</legend>
      {props.options.map(({ value, label, short, tone }) => (
        <label key={value} className="segment" data-tone={tone}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={value === props.value}
            onChange={() => props.onChange(value)}
          />
          <span>
            <span className={short === undefined ? undefined : 'long'}>{label}</span>
            {short !== undefined && <span className="short">{short}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
