-- The order in which the page sorts names: numbers by their value, case and accents only between names that are otherwise
-- equal. No index uses it: a later version of ICU may order otherwise, and an index would silently be wrong then.
create collation natural_names (provider = icu, locale = 'und-u-kn-ks-level1', deterministic = true);
