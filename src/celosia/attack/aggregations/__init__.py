"""The criterion of Daalmans and de Waal: no aggregation of hidden cells may be sensitive."""
