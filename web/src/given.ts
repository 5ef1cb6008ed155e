// Parts of the report's data, taken for what they should be: of anything else nothing is left.
import { isNumber } from "./report";

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function records<Item>(value: unknown): Partial<Item>[] {
  return list(value).filter((item): item is Partial<Item> => typeof item === "object" && item !== null);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function whole(value: unknown): number {
  return isNumber(value) && value > 0 ? Math.floor(value) : 0;
}

export function numberOrNull(value: unknown): number | null {
  return isNumber(value) ? value : null;
}

export function numbers(value: unknown): (number | null)[] {
  return list(value).map(numberOrNull);
}
