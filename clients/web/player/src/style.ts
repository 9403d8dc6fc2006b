/** How the player looks; a page changes it through its parts (`::part(line)`) and the colours it inherits. */
export const style = `
:host {
  display: block;
  font: 1rem / 1.4 system-ui, sans-serif;
}
:host([hidden]), [hidden] {
  display: none !important;
}
[part~='picture'] {
  position: relative;
  aspect-ratio: 16 / 9;
  background: #000;
  overflow: hidden;
}
canvas, video {
  position: absolute;
  inset: 0;
  width: 100%;
  height: 100%;
  object-fit: contain;
}
[part~='bar'] {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem 1rem;
  min-height: 2.75rem;
}
p {
  margin: 0;
}
[role='status'] {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
button {
  min-width: 6rem;
  min-height: 2.75rem;
  padding: 0 1rem;
  border: 0;
  border-radius: 0.375rem;
  background: #005f8a;
  color: #fff;
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button:focus-visible {
  outline: 3px solid currentColor;
  outline-offset: 2px;
}
@media (forced-colors: active) {
  button {
    border: 1px solid ButtonText;
  }
}
`;
