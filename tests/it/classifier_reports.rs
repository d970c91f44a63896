//! Faults that programs of this kind have had, as cases of ours. Ids are those of the collection they come from.
